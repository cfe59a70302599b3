"""What the extension promises: no leaks, no locked interpreter, nothing broken by fork."""

import gc
import os
import resource
import signal
import threading
import time

import pytest

import bapi

SPACE = {"lr": bapi.Float(1e-6, 1, log=True), "units": bapi.Int(16, 256), "opt": ["sgd", "adam"]}


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def ask_often(count):
    study = bapi.Study(space=SPACE, budget="100000 epochs", max_epochs=3, policy="random")
    for _ in range(count):
        segment = study.ask()
        segment.report(1, 0.5)
        study.complete(segment.number)
    del study
    gc.collect()


def test_ten_thousand_asks_leave_nothing_behind():
    for _ in range(3):
        ask_often(1000)
    before, objects = resident_bytes(), len(gc.get_objects())
    for _ in range(10):
        ask_often(1000)
    assert len(gc.get_objects()) - objects < 100
    # A dict that is left behind by every ask would be more than that; the allocator breathes by less than a megabyte.
    assert resident_bytes() - before < 2_000_000


def test_errors_leave_nothing_behind():
    def provoke():
        for _ in range(1000):
            with pytest.raises(bapi.InvalidInput):
                bapi.Study(space={"x": bapi.Float(1, 0)}, budget="1 epochs", max_epochs=3)

    provoke()
    before = resident_bytes()
    for _ in range(3):
        provoke()
    assert resident_bytes() - before < 1_000_000


def test_other_threads_run_while_a_decision_is_taken():
    study = bapi.Study(space=SPACE, budget="100000 epochs", max_epochs=6, policy="ms-ei")
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    most = 0
    for _ in range(60):
        entered, before = time.monotonic(), len(ticks)
        segment = study.ask()
        left = time.monotonic()
        most = max(most, sum(entered < at < left for at in ticks[before:]))
        if most >= 3:  # one or two could fall between a look at the clock and the call
            break
        for epoch in segment.epochs():
            if segment.report(epoch, 1 - 0.9**epoch + segment.config["lr"]) != "continue":
                break
    done.set()
    thread.join()
    assert most >= 3


def run_in_child(action):
    """What `action` returns in a forked child, as text."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            text = str(action())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text


@pytest.mark.parametrize("call", ["ask", "status", "close", "plot"])
def test_a_forked_child_cannot_use_the_study_of_its_parent(tmp_path, call):
    with bapi.Study(space=SPACE, budget="50 epochs", max_epochs=9, storage=tmp_path / "s") as study:
        text = run_in_child(lambda: getattr(study, call)())
        assert text.startswith("Error: this study was opened by process")


def test_a_forked_child_that_ends_in_order_does_no_harm(tmp_path):
    study = bapi.Study(space=SPACE, budget="50 epochs", max_epochs=9, storage=tmp_path / "s", policy="random")
    segment = study.ask()
    segment.report(1, 0.5)

    def let_go():
        nonlocal study, segment
        del study, segment
        gc.collect()
        return "gone"

    assert run_in_child(let_go) == "gone"
    assert segment.report(2, 0.6) == "continue"
    assert bapi.open_study(tmp_path / "s.bapi").trials[0].values == [0.5, 0.6]


def test_a_forked_child_may_open_studies_of_its_own(tmp_path):
    study = bapi.Study(space=SPACE, budget="50 epochs", max_epochs=9, storage=tmp_path / "s")

    def work():
        own = bapi.Study(space=SPACE, budget="50 epochs", max_epochs=9, storage=tmp_path / "own")
        return own.ask().number

    assert run_in_child(work) == "0"
    study.close()


def test_a_forked_child_does_not_keep_the_study_locked(tmp_path):
    study = bapi.Study(space=SPACE, budget="50 epochs", max_epochs=9, storage=tmp_path / "s")
    alive, here = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(here, b"x")
        time.sleep(60)
        os._exit(0)
    try:
        os.read(alive, 1)
        study.close()
        bapi.Study(space=SPACE, budget="50 epochs", max_epochs=9, storage=tmp_path / "s").close()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_processor_that_lacks_something_is_an_import_error(run_script):
    """Before the engine is loaded: that alone could end the process."""
    script = """
import sys
import types

sys.modules["bapi._processor"] = types.SimpleNamespace(lacking=lambda: "AVX2 and FMA")
try:
    import bapi
except ImportError as error:
    print(error, "bapi._core" in sys.modules)
"""
    text = run_script(script)
    assert "built for processors with AVX2 and FMA; this one" in text and "lacks AVX2 and FMA" in text
    assert "BAPI_CPU=x86-64" in text and text.endswith("False\n")


def test_this_processor_lacks_nothing():
    from bapi import _processor

    assert _processor.lacking() == ""


def test_the_version_is_that_of_the_program(program):
    assert bapi.__version__ in program("--version")
