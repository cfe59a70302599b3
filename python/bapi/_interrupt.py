"""Ctrl-C while a study is tuned."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import Any, Callable, Iterator


@contextlib.contextmanager
def on_ctrl_c(handle: Callable[[int, Any], None]) -> Iterator[None]:
    """Ctrl-C calls `handle(number, frame)`.

    Does nothing in threads, which get no signals, and where the program has a handler of its own.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
