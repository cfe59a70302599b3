"""How a study is doing, in a line of the terminal or in the cell of a notebook."""

from __future__ import annotations

import html
import os
import sys
import time
from typing import Any, Optional

from ._study import Study

_WIDTH = 24
_INTERVAL = 0.1  # seconds between two pictures
_MANY = 10_000


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    current = shell.get_ipython()
    return current is not None and "IPKernelApp" in getattr(current, "config", {})


def _terminal_columns() -> int:
    """Of the terminal behind standard error; many if there is none."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _MANY
    except (OSError, ValueError, AttributeError):
        return _MANY


class Progress:
    """Draws nothing."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._last = 0.0

    def update(self) -> None:
        """Something has happened."""
        now = time.monotonic()
        if now - self._last >= _INTERVAL:
            self._last = now
            self._draw()

    def finish(self) -> None:
        """The last picture."""
        self._draw()

    def _draw(self) -> None:
        pass

    def _text(self) -> str:
        spent, total, best, trials = self._study._core.progress()
        share = min(1.0, spent / total)
        full = int(share * _WIDTH)
        bar = "█" * full + "░" * (_WIDTH - full)
        shown = "none yet" if best is None else f"{best:.4g}"
        metric = self._study._about["metric"]
        return f"{self._study.name} {bar} {self._study._core.spending()}, {trials} trials, best {metric} {shown}"


class _Line(Progress):
    """One line on standard error, drawn over itself: a line that is wider than the terminal could not be."""

    def _draw(self) -> None:
        text, room = self._text(), _terminal_columns() - 1
        shown = text if len(text) <= room else text[: max(0, room - 1)] + "…"
        sys.stderr.write(f"\r\x1b[K{shown}")
        sys.stderr.flush()

    def finish(self) -> None:
        super().finish()
        sys.stderr.write("\n")


class _Cell(Progress):
    """The output of a notebook's cell."""

    def __init__(self, study: Study) -> None:
        super().__init__(study)
        self._handle: Optional[Any] = None

    def _draw(self) -> None:
        from IPython.display import HTML, display

        picture = HTML(f"<pre>{html.escape(self._text())}</pre>")
        if self._handle is None:
            self._handle = display(picture, display_id=True)
        else:
            self._handle.update(picture)


def progress_of(study: Study, wanted: Optional[bool]) -> Progress:
    """The display for this environment; with None, only on terminals and in notebooks."""
    if wanted is False:
        return Progress(study)
    if _in_notebook():
        return _Cell(study)
    if wanted or sys.stderr.isatty():
        return _Line(study)
    return Progress(study)
