#!/usr/bin/env python3
"""Logs a trial to MLflow: one run per trial, with its parameters and its metrics by epoch.

    hooks: {trial_end: [python3, to_mlflow.py]}

Without MLFLOW_TRACKING_URI, MLflow writes to ./mlruns.
"""

import os

import mlflow
from trial import trial

name, config, curve = trial()
mlflow.set_experiment(os.environ["BAPI_STUDY"])
with mlflow.start_run(run_name=name):
    mlflow.log_params(config)
    mlflow.set_tag("state", os.environ.get("BAPI_STATE", "running"))
    for epoch, metrics in curve:
        mlflow.log_metrics({key: value for key, value in metrics.items() if value is not None}, step=epoch)
