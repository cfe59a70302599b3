#!/usr/bin/env python3
"""Logs trials to W&B as offline runs; upload them with `wandb sync wandb/offline-run-*`.

    hooks: {study_end: [python3, to_wandb.py]}

or afterwards: python3 to_wandb.py mlp.bapi. A trial becomes a run once; one that was continued since, with a larger
budget, becomes another.
"""

import os
import pathlib

import wandb
from trials import trials

study, _, found = trials()
for trial in found:
    run_id = f"{trial.name}-epoch-{trial.curve[-1][0] if trial.curve else 0}"
    if any(pathlib.Path("wandb").glob(f"*run-*-{run_id}")):
        continue
    run = wandb.init(
        project=study,
        name=trial.name,
        id=run_id,
        config=trial.config,
        mode=os.environ.get("WANDB_MODE", "offline"),
        settings=wandb.Settings(silent=True),
    )
    for epoch, metrics in trial.curve:
        run.log(metrics, step=epoch)
    run.summary["state"] = trial.state
    run.finish()
