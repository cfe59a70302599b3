#!/usr/bin/env python3
"""Logs a trial to W&B as an offline run; upload them with `wandb sync wandb/offline-run-*`.

    hooks: {trial_end: [python3, to_wandb.py]}
"""

import os

import wandb
from trial import trial

name, config, curve = trial()
run = wandb.init(
    project=os.environ["BAPI_STUDY"],
    name=name,
    config=config,
    mode=os.environ.get("WANDB_MODE", "offline"),
    settings=wandb.Settings(silent=True),
)
for epoch, metrics in curve:
    run.log(metrics, step=epoch)
run.summary["state"] = os.environ.get("BAPI_STATE", "running")
run.finish()
