"""What all callbacks share."""

from __future__ import annotations

import pathlib
from typing import Any, Callable, Mapping

from .._core import InvalidInput
from .._segment import Segment


def monitored(values: Mapping[str, Any], name: str, library: str) -> float:
    """The value called `name`; the message lists what there is."""
    if name not in values:
        raise InvalidInput(f'{library} has not measured "{name}"; there is {", ".join(map(str, values)) or "nothing"}')
    return float(values[name])


def check_continues(trial: Segment, rounds_of_model: int, rounds: int, what_to_pass: str) -> None:
    """A model that starts again would get the curve of the one that was saved."""
    if rounds_of_model < trial.from_epoch * rounds:
        raise InvalidInput(
            f"trial {trial.number} continues after epoch {trial.from_epoch}, but its model has {rounds_of_model} boosting "
            f"rounds instead of {trial.from_epoch * rounds}; pass {what_to_pass} to continue from the saved model"
        )


def save_whole(trial: Segment, name: str, save: Callable[[str], None]) -> pathlib.Path:
    """Saves to a new file and renames it, so that a kill leaves the old checkpoint or the new one."""
    path = trial.checkpoint_dir / name
    beside = path.with_name(f"new-{name}")  # the ending says the format to some libraries
    save(str(beside))
    beside.replace(path)
    return path
