"""Ctrl-C, and other signals that end a run in order, while a study is tuned."""

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


@contextlib.contextmanager
def on_signals_to_leave(handle: Callable[[int, Any], None]) -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGUSR1 (schedulers send them before the end) call `handle(number, frame)`.

    Does nothing in threads, and leaves a signal alone for which the program has a handler of its own.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    others = [number for number in (signal.SIGTERM, signal.SIGUSR1) if signal.getsignal(number) is signal.SIG_DFL]
    for number in others:
        signal.signal(number, handle)
    try:
        with on_ctrl_c(handle):
            yield
    finally:
        for number in others:
            signal.signal(number, signal.SIG_DFL)
