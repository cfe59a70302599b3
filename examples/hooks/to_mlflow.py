#!/usr/bin/env python3
"""Logs trials to MLflow: one run per trial, with its parameters and its metrics by epoch.

    hooks: {trial_end: [python3, to_mlflow.py], study_end: [python3, to_mlflow.py]}

or afterwards: python3 to_mlflow.py mlp.bapi. A trial that is logged again gets the epochs that its run lacks. The runs
are where MLFLOW_TRACKING_URI says, or where MLflow puts them in this directory: mlflow.db, in older versions mlruns.
"""

import time

import mlflow
from mlflow.entities import Metric, Param
from trials import trials

study, _, found = trials()
client = mlflow.MlflowClient()
experiment = mlflow.set_experiment(study).experiment_id
for trial in found:
    known = client.search_runs([experiment], f"tags.`bapi.trial` = '{trial.name}'", max_results=1)
    if known:
        run = known[0].info.run_id
    else:
        run = client.create_run(experiment, tags={"bapi.trial": trial.name}, run_name=trial.name).info.run_id
        client.log_batch(run, params=[Param(name, str(value)) for name, value in trial.config.items()])
    logged = int(known[0].data.tags.get("bapi.epoch", 0)) if known else 0
    now = int(time.time() * 1000)
    metrics = [
        Metric(name, value, now, epoch)
        for epoch, values in trial.curve
        for name, value in values.items()
        if epoch > logged and value is not None
    ]
    for begin in range(0, len(metrics), 1000):
        client.log_batch(run, metrics=metrics[begin : begin + 1000])
    client.set_tag(run, "bapi.state", trial.state)
    if trial.curve:
        client.set_tag(run, "bapi.epoch", trial.curve[-1][0])
    if trial.state != "running":
        client.set_terminated(run, "FAILED" if trial.state == "failed" else "FINISHED")
