"""Imported before the engine: says why it cannot run here, where loading it would end the process without a word."""

from __future__ import annotations

from . import _processor


def _model() -> str:
    """The name of the processor, as far as the system knows it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        return ""


def _check_processor() -> None:
    lacking = _processor.lacking()
    if not lacking:
        return
    model = _model()
    raise ImportError(
        f"bapi was built for processors with AVX2 and FMA; this one{f' ({model})' if model else ''} lacks {lacking}. "
        "Build it for any x86-64: pip install --config-settings=cmake.define.BAPI_CPU=x86-64 ."
    )


_check_processor()
