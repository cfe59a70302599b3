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


def save_whole(trial: Segment, name: str, save: Callable[[str], None]) -> pathlib.Path:
    """Saves to a new file and renames it, so that a kill leaves the old checkpoint or the new one."""
    path = trial.checkpoint_dir / name
    beside = path.with_name(f"new-{name}")  # the ending says the format to some libraries
    save(str(beside))
    beside.replace(path)
    return path
