#!/usr/bin/python3
"""A convolutional network on small colour images: the training program of study-python.yaml. Needs torch and numpy."""
import argparse, gzip, json, os, pathlib  # noqa: E401

import numpy
import torch
from torch import nn

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--data", default=os.environ.get("BAPI_DATA"), help="directory with train-*-ubyte.gz, as IDX files")
options.add_argument("--examples", type=int, default=2000, help="training images; half as many validate")
for name in ("lr", "momentum", "l2"):
    options.add_argument(f"--{name}", type=float, required=True)
for name in ("batch", "filters", "dense"):
    options.add_argument(f"--{name}", type=int, required=True)
options.add_argument("--epochs", type=int, default=int(os.environ.get("BAPI_MAX_EPOCH", 50)))
options.add_argument("--seed", type=int, default=int(os.environ.get("BAPI_SEED", 0)) % 2**31)
options.add_argument("--checkpoint", type=pathlib.Path, default=os.environ.get("BAPI_CHECKPOINT_DIR"))
args = options.parse_args()
torch.set_num_threads(1)


def read_idx(name, dimensions):
    with gzip.open(pathlib.Path(args.data) / name) as file:
        header = numpy.frombuffer(file.read(4 + 4 * dimensions), ">i4")
        return torch.from_numpy(numpy.frombuffer(file.read(), numpy.uint8).reshape(header[1:]).copy())


x = nn.functional.avg_pool2d(read_idx("train-images-idx4-ubyte.gz", 4)[: args.examples * 3 // 2].float(), 2)
y = read_idx("train-labels-idx1-ubyte.gz", 1)[: args.examples * 3 // 2].long()
x = (x - x.mean((0, 2, 3), keepdim=True)) / x.std((0, 2, 3), keepdim=True)
x_valid, y_valid, x, y = x[args.examples:], y[args.examples:], x[: args.examples], y[: args.examples]

torch.manual_seed(args.seed)
layers, channels = [], 3
for _ in range(3):
    layers += [nn.Conv2d(channels, args.filters, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    channels = args.filters
layers += [nn.Flatten(), nn.Linear(args.filters * (x.shape[2] // 8) ** 2, args.dense), nn.ReLU(), nn.Linear(args.dense, 10)]
network = nn.Sequential(*layers)
descent = torch.optim.SGD(network.parameters(), args.lr, args.momentum, weight_decay=args.l2)

saved = args.checkpoint and pathlib.Path(args.checkpoint) / "state.pt"
state = torch.load(saved) if saved and saved.exists() else {"errors": []}
if state["errors"]:  # continue where the last checkpoint was written, and report again what bapi may not have heard
    network.load_state_dict(state["network"]), descent.load_state_dict(state["descent"])
for epoch in range(int(os.environ.get("BAPI_FROM_EPOCH", 0)) + 1, args.epochs + 1):
    if epoch > len(state["errors"]):
        order = torch.randperm(len(y), generator=torch.Generator().manual_seed(args.seed + epoch))
        for rows in order.split(args.batch):
            descent.zero_grad()
            nn.functional.cross_entropy(network(x[rows]), y[rows]).backward()
            descent.step()
        with torch.no_grad():
            state["errors"].append((network(x_valid).argmax(1) != y_valid).double().mean().item())
        if saved:  # before the report; written to another file and renamed, so that it is always whole
            torch.save({**state, "network": network.state_dict(), "descent": descent.state_dict()}, f"{saved}.new")
            os.replace(f"{saved}.new", saved)
    print("bapi:", json.dumps({"epoch": epoch, "error": state["errors"][epoch - 1]}), flush=True)
