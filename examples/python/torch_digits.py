"""Tunes a small network in PyTorch on the digits data, two trials at a time, with a minute of training.

    python3 examples/python/torch_digits.py

Needs torch and scikit-learn, and says so if they are missing.
"""

import sys

import bapi

try:
    import torch
    from sklearn.datasets import load_digits
except ImportError as missing:
    sys.exit(f"this example needs torch and scikit-learn: {missing}")


def data():
    x, y = load_digits(return_X_y=True)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(0))
    x, y = torch.tensor(x / 16, dtype=torch.float32)[order], torch.tensor(y)[order]
    return (x[:1300], y[:1300]), (x[1300:], y[1300:])


def train(trial):
    torch.manual_seed(trial.seed)
    torch.set_num_threads(1)
    (x, y), (x_valid, y_valid) = data()
    config = trial.config
    model = torch.nn.Sequential(
        torch.nn.Linear(64, config["units"]),
        torch.nn.ReLU(),
        torch.nn.Dropout(config["dropout"]),
        torch.nn.Linear(config["units"], 10),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"], weight_decay=config["weight_decay"])
    path = trial.checkpoint_dir / "state.pt"
    start = 0
    if path.exists():
        state = torch.load(path)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        start = state["epoch"]

    for epoch in trial.epochs(start):
        model.train()
        for rows in torch.randperm(len(y)).split(config["batch"]):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            accuracy = (model(x_valid).argmax(1) == y_valid).double().mean().item()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, f"{path}.new")
        path.with_name(path.name + ".new").replace(path)
        trial.report(epoch, accuracy)


if __name__ == "__main__":
    study = bapi.tune(
        train,
        space={
            "lr": bapi.Float(1e-5, 1, log=True),
            "units": bapi.Int(8, 256, log=True),
            "dropout": bapi.Float(0, 0.6),
            "weight_decay": bapi.Float(1e-6, 1, log=True),
            "batch": [16, 32, 64, 128],
        },
        budget="1m",
        max_epochs=50,
        metric="accuracy",
        storage="torch.bapi",
        workers=2,
    )
    print(study)
    print(f"accuracy {study.best.value:.4f} with {study.best.config}")
