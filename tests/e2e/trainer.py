"""A training program that behaves: reports every epoch, keeps a checkpoint, continues from it."""

import argparse
import json
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, required=True)
parser.add_argument("--units", type=int, default=32)
parser.add_argument("--delay", type=float, default=0.0)
options = parser.parse_args()

state = os.path.join(os.environ["BAPI_CHECKPOINT_DIR"], "epoch")
recorded = int(os.environ["BAPI_FROM_EPOCH"])
done = 0
if os.path.exists(state):
    with open(state) as file:
        done = int(file.read())


def report(epoch):
    value = (1.0 - 0.8**epoch) * (1.0 - abs(options.lr - 0.1)) + 0.0001 * options.units
    with open(os.environ["BAPI_REPORT"], "a") as file:
        file.write(json.dumps({"epoch": epoch, "accuracy": value}) + "\n")


# Killed between checkpoint and report: the epoch is trained, but nobody knows.
if done > recorded:
    report(done)
for epoch in range(done + 1, int(os.environ["BAPI_MAX_EPOCH"]) + 1):
    time.sleep(options.delay)
    with open(state + ".new", "w") as file:
        file.write(str(epoch))
    os.replace(state + ".new", state)
    report(epoch)
print("trained to the end")
