"""Keras: a callback that reports every epoch to a trial.

model = keras.models.load_model(saved) if (saved := saved_model(trial)) else build(trial.config)
model.fit(x, y, validation_data=(xv, yv), initial_epoch=trial.from_epoch, epochs=trial.max_epochs,
          callbacks=[BapiCallback(trial, "val_accuracy")])
"""

from __future__ import annotations

import pathlib
from typing import Any, Mapping, Optional

import keras

from .._segment import Segment
from ._reporting import monitored, save_whole

_MODEL = "model.keras"


def saved_model(trial: Segment) -> Optional[pathlib.Path]:
    """The trial's checkpoint; None for a new trial."""
    path = trial.checkpoint_dir / _MODEL
    return path if path.exists() else None


class BapiCallback(keras.callbacks.Callback):
    """Saves the model, reports `monitor`, and ends the training when bapi says pause or stop."""

    def __init__(self, trial: Segment, monitor: str, *, checkpoint: bool = True) -> None:
        super().__init__()
        self._trial = trial
        self._monitor = monitor
        self._checkpoint = checkpoint

    def on_epoch_end(self, epoch: int, logs: Optional[Mapping[str, Any]] = None) -> None:
        """Called by Keras."""
        value = monitored(logs or {}, self._monitor, "Keras")
        if self._checkpoint:
            save_whole(self._trial, _MODEL, self.model.save)
        if self._trial.report(epoch + 1, value) != "continue":
            self.model.stop_training = True
