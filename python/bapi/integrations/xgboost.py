"""XGBoost: a callback that reports to a trial, an epoch being one or several boosting rounds.

saved = saved_model(trial)
xgboost.train(trial.config, dtrain, num_boost_round=trial.max_epochs - trial.from_epoch, evals=[(dvalid, "valid")],
              xgb_model=saved, callbacks=[BapiCallback(trial, "valid", "logloss")])
"""

from __future__ import annotations

from typing import Any, Dict, Optional

import xgboost

from .._segment import Segment
from ._reporting import check_continues, monitored, save_whole

_MODEL = "model.ubj"


def saved_model(trial: Segment) -> Optional[str]:
    """The trial's model for `xgb_model`; None for a new trial."""
    path = trial.checkpoint_dir / _MODEL
    return str(path) if path.exists() else None


class BapiCallback(xgboost.callback.TrainingCallback):
    """Saves the model, reports the metric of the named data, and ends the boosting when bapi says pause or stop.

    `rounds` boosting rounds make one epoch. Pass `saved_model(trial)` as `xgb_model`: training continues from the trial's
    last epoch.
    """

    def __init__(self, trial: Segment, data: str, metric: str, *, rounds: int = 1, checkpoint: bool = True) -> None:
        super().__init__()
        self._trial = trial
        self._data = data
        self._metric = metric
        self._rounds = rounds
        self._checkpoint = checkpoint
        self._done = 0

    def before_training(self, model: Any) -> Any:
        """Called by XGBoost."""
        if self._checkpoint:
            check_continues(self._trial, model.num_boosted_rounds(), self._rounds, "xgb_model=saved_model(trial)")
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Dict[str, Dict[str, Any]]) -> bool:
        """Called by XGBoost; True ends the boosting."""
        self._done += 1
        if self._done % self._rounds != 0:
            return False
        values = {name: series[-1] for name, series in evals_log.get(self._data, {}).items()}
        value = monitored(values, self._metric, f"XGBoost on {self._data}")
        if self._checkpoint:
            save_whole(self._trial, _MODEL, model.save_model)
        return self._trial.report(self._trial.from_epoch + self._done // self._rounds, value) != "continue"
