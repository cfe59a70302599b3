"""Callbacks: functions that bapi calls on events of a study. They can neither delay nor break it."""

from __future__ import annotations

import contextlib
import difflib
import queue
import threading
import traceback
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Dict, Mapping, Optional

from . import _core
from ._progress import Progress
from ._study import Study

EVENTS = ("epoch", "best", "trial_end", "study_end")
_WAITING = 1000  # notices that may wait
_LAST = 10.0  # seconds for those that are left when the study has ended


class CallbackWarning(UserWarning):
    """A callback raised an exception, or cannot keep up with the events."""


@dataclass(frozen=True)
class Notice:
    """An event of a study: the argument of a callback."""

    event: str
    """"epoch", "best", "trial_end" or "study_end"."""
    study: str
    trial: Optional[int]
    epoch: Optional[int]
    """Epoch of the report; at "trial_end", the last epoch of the trial."""
    value: Optional[float]
    metrics: Dict[str, float]
    """Other metrics of the report."""
    config: Optional[Dict[str, Any]]
    state: str
    """At "trial_end": "completed", "stopped" or "failed"."""
    reason: str
    """Why the trial failed, or why the study ended."""


Callback = Callable[[Notice], Any]
Callbacks = Mapping[str, Callback]


class Messenger:
    """Draws the progress, and passes events to callbacks in a separate thread."""

    def __init__(self, study: Study, display: Progress, callbacks: Optional[Callbacks]) -> None:
        self._study = study
        self._display = display
        self._callbacks = dict(callbacks or {})
        for name, function in self._callbacks.items():
            if name not in EVENTS:
                near = difflib.get_close_matches(name, EVENTS, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else f", expected one of {', '.join(EVENTS)}"
                raise _core.InvalidInput(f"callbacks: found {name!r}{hint}")
            if not callable(function):
                raise _core.InvalidInput(f"callbacks: found {function!r} for {name!r}, expected a function")
        self._waiting: "queue.Queue[Optional[Notice]]" = queue.Queue(_WAITING)
        self._thread: Optional[threading.Thread] = None
        self._warned = False
        if self._callbacks:
            self._thread = threading.Thread(target=self._deliver, name="bapi callbacks", daemon=True)
            self._thread.start()

    def update(self) -> None:
        """Something has happened."""
        self._display.update()
        self._collect()

    def finish(self) -> None:
        """The last picture, and the remaining notices."""
        self._display.finish()
        self._collect()
        if self._thread is not None:
            try:
                self._waiting.put(None, timeout=_LAST)
                self._thread.join(_LAST)
            except queue.Full:
                pass
            if self._thread.is_alive():
                self._warn("callbacks: the study has ended; the remaining events are dropped")

    def stop(self) -> None:
        """Tells nothing more."""
        if self._thread is not None and self._thread.is_alive():
            self._callbacks.clear()
            with contextlib.suppress(queue.Full):
                self._waiting.put_nowait(None)

    def _collect(self) -> None:
        if not self._callbacks:
            return
        for record in self._study._core.notices():
            if record["event"] not in self._callbacks:
                continue
            try:
                self._waiting.put_nowait(Notice(study=self._study.name, **record))
            except queue.Full:
                self._warn("callbacks: they cannot keep up with the events; some events are dropped")

    def _deliver(self) -> None:
        while (notice := self._waiting.get()) is not None:
            callback = self._callbacks.get(notice.event)
            if callback is None:
                continue
            try:
                callback(notice)
            except Exception:
                self._warn(f"callbacks: {notice.event!r} raised an exception\n{traceback.format_exc()}")

    def _warn(self, text: str) -> None:
        """Once, however often it happens."""
        if not self._warned:
            self._warned = True
            warnings.warn(text, CallbackWarning, stacklevel=2)
