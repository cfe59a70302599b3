"""LightGBM: a callback that reports to a trial, an epoch being one or several boosting rounds.

booster = lightgbm.train(trial.config, train, num_boost_round=trial.max_epochs - trial.from_epoch,
                         valid_sets=[valid], valid_names=["valid"], init_model=saved_model(trial),
                         callbacks=[bapi_callback(trial, "valid", "auc")])
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import lightgbm

from .._segment import Segment
from ._reporting import check_continues, monitored, save_whole

_MODEL = "model.txt"


def saved_model(trial: Segment) -> Optional[str]:
    """The trial's model for `init_model`; None for a new trial."""
    path = trial.checkpoint_dir / _MODEL
    return str(path) if path.exists() else None


def bapi_callback(
    trial: Segment, data: str, metric: str, *, rounds: int = 1, checkpoint: bool = True
) -> Callable[[Any], None]:
    """Saves the model, reports the metric of the named data, and ends the boosting when bapi says pause or stop.

    `rounds` boosting rounds make one epoch. Pass `saved_model(trial)` as `init_model`: training continues from the trial's
    last epoch.
    """

    def after_round(env: Any) -> None:
        done = env.iteration - env.begin_iteration + 1
        if checkpoint and done == 1:
            check_continues(trial, env.begin_iteration, rounds, "init_model=saved_model(trial)")
        if done % rounds != 0:
            return
        results = env.evaluation_result_list or []
        values = {result[1]: result[2] for result in results if result[0] == data}
        value = monitored(values, metric, f"LightGBM on {data}")
        if checkpoint:
            save_whole(trial, _MODEL, env.model.save_model)
        if trial.report(trial.from_epoch + done // rounds, value) != "continue":
            raise lightgbm.callback.EarlyStopException(env.iteration, results)

    after_round.order = 40  # type: ignore[attr-defined]
    return after_round
