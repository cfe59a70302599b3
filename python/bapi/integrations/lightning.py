"""PyTorch Lightning: a callback that reports every validation epoch to a trial.

trainer = Trainer(max_epochs=trial.max_epochs, callbacks=[BapiCallback(trial, "val_acc")])
trainer.fit(model, data, ckpt_path=saved_checkpoint(trial))
"""

from __future__ import annotations

from typing import Any, Optional

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback

from .._segment import Segment
from ._reporting import monitored, save_whole

_CHECKPOINT = "model.ckpt"


def saved_checkpoint(trial: Segment) -> Optional[str]:
    """The trial's checkpoint for `ckpt_path`; None for a new trial."""
    path = trial.checkpoint_dir / _CHECKPOINT
    return str(path) if path.exists() else None


class BapiCallback(Callback):
    """Saves a checkpoint, reports `monitor`, and ends the training when bapi says pause or stop."""

    def __init__(self, trial: Segment, monitor: str, *, checkpoint: bool = True) -> None:
        super().__init__()
        self._trial = trial
        self._monitor = monitor
        self._checkpoint = checkpoint
        self._measured: Optional[float] = None

    def on_validation_end(self, trainer: Any, module: Any) -> None:
        """Called by Lightning, before the training epoch it belongs to ends."""
        if not trainer.sanity_checking:
            self._measured = monitored(trainer.callback_metrics, self._monitor, "Lightning")

    def on_train_epoch_end(self, trainer: Any, module: Any) -> None:
        """Called by Lightning."""
        value, self._measured = self._measured, None
        if value is None:
            value = monitored(trainer.callback_metrics, self._monitor, "Lightning")
        if self._checkpoint:
            save_whole(self._trial, _CHECKPOINT, trainer.save_checkpoint)
        if self._trial.report(trainer.current_epoch + 1, value) != "continue":
            trainer.should_stop = True
