"""The build backend: scikit-build-core's, which also says on the terminal what is built and how long that takes.

pip shows nothing of what a backend prints, unless it is called with -v, and minutes without a word look like a program
that hangs. The terminal itself is there all the same.
"""

import os

from scikit_build_core import build as _backend
from scikit_build_core.build import *  # noqa: F403

# Of processor time, without a compiler cache.
_MINUTES = 6


def _tell() -> None:
    count = os.cpu_count() or 1
    text = (
        f"bapi: compiling the engine, about {_MINUTES} minutes of processor time"
        f" (this machine has {count} processor{'s' * (count != 1)}); pip -v shows each step"
    )
    print(text, flush=True)
    try:
        with open("/dev/tty", "w", encoding="utf-8") as terminal:
            terminal.write(f"\n  {text}\n")
    except OSError:
        pass  # no terminal: in a script, in CI


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):  # type: ignore[no-untyped-def]  # noqa
    _tell()
    return _backend.build_wheel(wheel_directory, config_settings, metadata_directory)
