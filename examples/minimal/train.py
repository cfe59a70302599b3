"""Logistic regression on points inside and outside of a circle: the minimum that a training program must do."""

import json
import math
import os
import pathlib
import random
import sys

lr, momentum = float(sys.argv[1]), float(sys.argv[2])
checkpoint = pathlib.Path(os.environ["BAPI_CHECKPOINT_DIR"]) / "state.json"
last_epoch = int(os.environ["BAPI_MAX_EPOCH"])

draw = random.Random(0)
points = [(draw.uniform(-1, 1), draw.uniform(-1, 1)) for _ in range(2000)]
data = [((1, x, y, x * x, y * y), (x * x + y * y < 0.5) != (draw.random() < 0.05)) for x, y in points]  # 5 % are wrong

state = {"epoch": 0, "weights": [0.0] * 5, "velocity": [0.0] * 5}
if checkpoint.exists():
    state = json.loads(checkpoint.read_text())

for epoch in range(state["epoch"] + 1, last_epoch + 1):
    gradient, loss = [0.0] * 5, 0.0
    for features, inside in data:
        score = sum(w * f for w, f in zip(state["weights"], features))
        error = 1 / (1 + math.exp(-max(-30.0, min(30.0, score)))) - inside
        gradient = [g + error * f / len(data) for g, f in zip(gradient, features)]
        loss -= math.log(max(1e-12, 1 - abs(error))) / len(data)
    state["velocity"] = [momentum * v - lr * g for v, g in zip(state["velocity"], gradient)]
    state["weights"] = [w + v for w, v in zip(state["weights"], state["velocity"])]
    state["epoch"] = epoch

    new = checkpoint.with_suffix(".new")
    new.write_text(json.dumps(state))
    new.rename(checkpoint)
    print("bapi:", json.dumps({"epoch": epoch, "loss": loss}), flush=True)
