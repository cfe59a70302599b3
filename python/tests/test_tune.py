"""bapi.tune: in this process and in workers, interrupted, killed and resumed."""

import inspect
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import quality
from delays import Delays, latency

import bapi

SPACE = {"lr": bapi.Float(1e-6, 1, log=True), "units": bapi.Int(16, 256), "opt": ["sgd", "adam"]}
DELAYS = Delays()
LOOP = {"space": SPACE, "budget": "200 epochs", "max_epochs": 9, "policy": "hyperband"}


def saved_epoch(trial):
    path = trial.checkpoint_dir / "epoch"
    return int(path.read_text()) if path.exists() else 0


def train(trial):
    start = saved_epoch(trial)
    assert start in (trial.from_epoch, trial.from_epoch + 1)
    for epoch in trial.epochs(start):
        (trial.checkpoint_dir / "epoch").write_text(str(epoch))
        trial.report(epoch, quality(trial.config, epoch))


def test_the_function_is_called_once_per_segment_and_continues_its_checkpoint(tmp_path):
    study = bapi.tune(train, storage=tmp_path / "mlp.bapi", **LOOP)
    assert study.state == "finished" and study.spent == 200
    assert any(row["kind"] == "epoch" for row in study.ledger())
    assert not any(row["kind"] == "repeat" for row in study.ledger())
    assert study.best.value == max(max(trial.values) for trial in study.trials)


def test_in_memory_checkpoints_are_kept_in_a_temporary_directory():
    directories = []

    def note(trial):
        directories.append(trial.checkpoint_dir)
        train(trial)

    study = bapi.tune(note, **LOOP)
    assert study.path is None and study.state == "finished"
    assert all(path.is_dir() for path in directories)
    del study


def test_a_study_is_the_same_twice():
    def configs():
        return [trial.config for trial in bapi.tune(train, seed=5, **LOOP).trials]

    assert configs() == configs()


def test_exceptions_fail_the_trial_and_the_study_goes_on():
    def fails_often(trial):
        if trial.number % 2 == 1:
            raise RuntimeError("no memory left")
        train(trial)

    study = bapi.tune(fails_often, **LOOP)
    failed = [trial for trial in study.trials if trial.state == "failed"]
    assert failed and all("RuntimeError: no memory left (test_tune.py:" in trial.failure for trial in failed)
    assert study.spent == 200


def test_failures_are_told_at_the_end(capsys):
    def train(trial):
        for epoch in trial.epochs():
            if trial.number == 1:
                raise ValueError("bad luck\nand more")
            trial.report(epoch, 0.5)

    options = {"space": {"x": bapi.Float(0, 1)}, "budget": "9 epochs", "max_epochs": 3, "policy": "random"}
    bapi.tune(train, **options)
    assert "bapi: 1 of 4 trials failed; trial 1: ValueError: bad luck\n" in capsys.readouterr().err
    bapi.tune(train, progress=False, **options)
    assert capsys.readouterr().err == ""


def test_too_many_failures_in_a_row_are_an_error():
    def fails(trial):
        raise RuntimeError("no such file")

    with pytest.raises(bapi.TooManyFailures, match="no such file"):
        bapi.tune(fails, max_failures=3, catch=Exception, **LOOP)


def test_an_exception_before_the_first_report_is_raised_and_fails_no_trial(tmp_path):
    def fails(trial):
        raise ZeroDivisionError("a mistake of mine")

    with pytest.raises(ZeroDivisionError, match="a mistake of mine") as raised:
        bapi.tune(fails, storage=tmp_path / "s", **LOOP)
    assert raised.traceback[-1].name == "fails"
    study = bapi.open_study(tmp_path / "s.bapi")
    assert [trial.state for trial in study.trials] == ["interrupted"]
    config = study.trials[0].config
    study = bapi.tune(train, storage=tmp_path / "s", **LOOP)
    assert study.trials[0].config == config and study.spent == 200
    assert "failed" not in {trial.state for trial in study.trials}


def test_a_function_that_reports_nothing_is_told_at_once_and_fails_no_trial(tmp_path):
    with pytest.raises(bapi.TrainingFailed, match=r"call trial.report\(epoch, value\)"):
        bapi.tune(lambda trial: None, storage=tmp_path / "s", **LOOP)
    study = bapi.tune(train, storage=tmp_path / "s", **LOOP)
    assert study.spent == 200 and "failed" not in {trial.state for trial in study.trials}


def test_arguments_of_other_tuners_get_the_right_hint():
    with pytest.raises(TypeError, match="give a budget"):
        bapi.tune(train, n_trials=100, **LOOP)


def test_expected_exceptions_fail_their_trial_from_the_start():
    def fails_at_first(trial):
        if trial.number < 2:
            raise MemoryError("too large")
        train(trial)

    study = bapi.tune(fails_at_first, catch=MemoryError, **LOOP)
    assert [trial.state for trial in study.trials][:2] == ["failed", "failed"]
    with pytest.raises(MemoryError):
        bapi.tune(fails_at_first, catch=(ValueError, KeyError), **LOOP)


def test_an_epoch_that_was_saved_and_not_reported_is_a_gap(tmp_path):
    def interrupted(trial):
        for epoch in trial.epochs(saved_epoch(trial)):
            (trial.checkpoint_dir / "epoch").write_text(str(epoch))
            if epoch == 4 and trial.number == 0 and trial.from_epoch == 0:
                os.kill(os.getpid(), signal.SIGINT)
            trial.report(epoch, quality(trial.config, epoch))

    loop = {**LOOP, "policy": "random"}
    assert bapi.tune(interrupted, storage=tmp_path / "s", **loop).spent == 3
    study = bapi.tune(interrupted, storage=tmp_path / "s", **loop)
    first = study.trials[0]
    assert first.reported[:5] == [1, 2, 3, 5, 6] and first.epochs == first.reported[-1]
    assert study.spent == 200, "with the epoch that was not reported"
    assert [row["epoch"] for row in study.ledger() if row["kind"] == "unreported"] == [4]
    assert not any(trial.state == "failed" for trial in study.trials)


def test_returning_early_completes_the_trial():
    def gives_up(trial):
        trial.report(1, 0.5)

    study = bapi.tune(gives_up, **{**LOOP, "budget": "20 epochs", "policy": "random"})
    assert [trial.state for trial in study.trials[:10]] == ["completed"] * 10
    assert len(study.trials) == 20


def test_seconds_are_the_time_it_takes():
    def sleeps(trial):
        for epoch in trial.epochs():
            time.sleep(0.01)
            trial.report(epoch, quality(trial.config, epoch))

    begin = time.monotonic()
    study = bapi.tune(sleeps, **{**LOOP, "budget": 1.0, "policy": "bapi"})
    took = time.monotonic() - begin
    assert study.state == "finished"
    assert study.spent <= took, "no second is charged twice"
    longest = max(cost for trial in study.trials for cost in trial.costs)
    assert study.spent - longest <= 1.0, "no epoch is begun after the end"


def test_ctrl_c_pauses_and_the_same_call_resumes(tmp_path, capsys):
    calls = 0

    def interrupted(trial):
        nonlocal calls
        for epoch in trial.epochs(saved_epoch(trial)):
            calls += 1
            if calls == 20:
                os.kill(os.getpid(), signal.SIGINT)
            (trial.checkpoint_dir / "epoch").write_text(str(epoch))
            trial.report(epoch, quality(trial.config, epoch))

    first = bapi.tune(interrupted, storage=tmp_path / "s", **LOOP)
    assert first.state == "interrupted" and 15 <= first.spent <= 20
    assert "paused" in capsys.readouterr().err
    second = bapi.tune(train, storage=tmp_path / "s", **LOOP)
    assert second.state == "finished" and second.spent == 200


def test_ctrl_c_that_the_training_swallows_pauses_at_the_next_report(tmp_path):
    calls = 0

    def swallows(trial):
        nonlocal calls
        for epoch in trial.epochs(saved_epoch(trial)):
            calls += 1
            try:
                if calls == 20:
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(5)
            except KeyboardInterrupt:
                pass  # as fits do that may be ended early
            (trial.checkpoint_dir / "epoch").write_text(str(epoch))
            trial.report(epoch, quality(trial.config, epoch))

    first = bapi.tune(swallows, storage=tmp_path / "s", **LOOP)
    assert first.state == "interrupted" and calls == 20 and first.spent == 19
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert bapi.tune(train, storage=tmp_path / "s", **LOOP).spent == 200


def test_a_handler_of_ones_own_is_left_alone():
    def mine(number, frame):
        pass

    before = signal.signal(signal.SIGINT, mine)
    try:
        bapi.tune(train, **{**LOOP, "budget": "9 epochs"})
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_cannot_be_called_is_refused():
    with pytest.raises(bapi.InvalidInput, match="train: found 3"):
        bapi.tune(3, **LOOP)


SCRIPT = """
import os
import time
import bapi
from conftest import quality

def train(trial):
    path = trial.checkpoint_dir / "epoch"
    start = int(path.read_text()) if path.exists() else 0
    for epoch in trial.epochs(start):
        time.sleep(0.005)
        (trial.checkpoint_dir / "epoch.new").write_text(str(epoch))
        (trial.checkpoint_dir / "epoch.new").rename(path)
        trial.report(epoch, quality(trial.config, epoch))
        os.write(1, f"{{trial.number}} {{epoch}}\\n".encode())

if __name__ == "__main__":
    study = bapi.tune(train, space={{"lr": bapi.Float(1e-6, 1, log=True)}}, budget="150 epochs", max_epochs=9,
                      policy="hyperband", storage="s.bapi", workers={workers})
    print("finished", study.spent)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_what_was_reported_survives_kill_9(tmp_path, run_script, workers):
    process = run_script(SCRIPT.format(workers=workers), wait=False)
    told = [process.stdout.readline().split() for _ in range(30)]
    process.kill()
    told += [line.split() for line in process.communicate()[0].splitlines() if line.count(" ") == 1]
    trials = bapi.open_study(tmp_path / "s.bapi").trials
    known = {(trial.number, epoch) for trial in trials for epoch in range(1, trial.epochs + 1)}
    assert {(int(number), int(epoch)) for number, epoch in told} <= known
    assert "finished 150" in run_script(SCRIPT.format(workers=workers))


def test_two_workers_share_one_study(tmp_path, run_script, program):
    assert "finished 150" in run_script(SCRIPT.format(workers=2))
    study = bapi.open_study(tmp_path / "s.bapi")
    assert study.state == "finished"
    assert sum(row["cost"] for row in study.ledger()) == 150
    assert json.loads(program("status", tmp_path / "s.bapi", "-f", "json"))["budget"]["spent"] == 150


def test_workers_are_ended_when_the_budget_is_spent(tmp_path, run_script):
    script = """
import time
import bapi

def train(trial):
    trial.report(1, 0.5)
    time.sleep(100)

if __name__ == "__main__":
    study = bapi.tune(train, space={"lr": bapi.Float(0, 1)}, budget="3s", max_epochs=9, storage="s.bapi", workers=2,
                      policy="random")
    print(study.state, study.reason)
"""
    begin = time.monotonic()
    assert "finished the budget is spent" in run_script(script)
    assert bapi.open_study(tmp_path / "s.bapi").spent <= 3 + 2 * latency(DELAYS, begin)


def test_a_function_that_goes_on_after_pause_loses_its_worker(run_script, tmp_path):
    script = """
import time
import bapi

def train(trial):
    for epoch in trial.epochs():
        trial.report(epoch, 0.5)
    time.sleep(100)

if __name__ == "__main__":
    study = bapi.tune(train, space={"lr": bapi.Float(0, 1)}, budget="4 epochs", max_epochs=9, storage="s.bapi",
                      workers=2, policy="one-epoch", grace=0.1)
    print(study.state, study.spent)
"""
    assert "finished 4.0" in run_script(script)


def test_a_worker_that_dies_fails_its_trial_only(run_script, tmp_path):
    script = """
import os
import bapi

def train(trial):
    if trial.number == 4:
        os._exit(3)
    for epoch in trial.epochs():
        trial.report(epoch, 0.5)

if __name__ == "__main__":
    study = bapi.tune(train, space={"lr": bapi.Float(0, 1)}, budget="60 epochs", max_epochs=9, storage="s.bapi",
                      workers=2, policy="random")
    print(study.state, study.trials[4].failure)
"""
    assert "finished the worker process ended with exit code 3" in run_script(script)


def test_a_worker_that_dies_after_a_report_is_replaced_once(run_script, tmp_path):
    script = """
import os
import bapi

def train(trial):
    for epoch in trial.epochs():
        if epoch == 3 and trial.from_epoch == 0:
            os._exit(3)
        trial.report(epoch, 0.5)

if __name__ == "__main__":
    study = bapi.tune(train, space={"lr": bapi.Float(0, 1)}, budget="36 epochs", max_epochs=9, storage="s.bapi",
                      workers=2, policy="random")
    print(study.state, {trial.state for trial in study.trials})
"""
    assert "finished {'completed'}" in run_script(script)


def test_an_exception_in_a_worker_before_the_first_report_is_raised_with_its_traceback(run_script, tmp_path):
    script = """
import bapi

def train(trial):
    raise KeyError("mine")

if __name__ == "__main__":
    try:
        bapi.tune(train, space={"lr": bapi.Float(0, 1)}, budget="8 epochs", max_epochs=2, workers=2, storage="s.bapi")
    except KeyError as error:
        print("raised", error, 'raise KeyError("mine")' in str(error.__cause__))
    print([trial.state for trial in bapi.open_study("s.bapi").trials])
"""
    output = run_script(script)
    assert "raised 'mine' True" in output and "failed" not in output


def test_a_study_that_a_thread_tunes_is_not_touched_by_others(run_script):
    script = """
import threading
import bapi
from bapi._progress import Progress

said = []

def train(trial):
    for epoch in trial.epochs():
        trial.report(epoch, 0.5)

def look(study):
    try:
        study.status()
    except bapi.Error as error:
        said.append(str(error))

def update(display):
    display._study.status()  # the loop's own callbacks may
    other = threading.Thread(target=look, args=(display._study,))
    other.start()
    other.join()

if __name__ == "__main__":
    Progress.update = update
    study = bapi.tune(train, space={"lr": bapi.Float(0, 1)}, budget="8 epochs", max_epochs=2, workers=2,
                      policy="random")
    updates = len(said)
    look(study)
    print(study.state, updates > 0 and len(said) == updates, said[0])
"""
    assert "finished True another thread is tuning this study" in run_script(script)


def test_a_worker_that_dies_before_its_bad_report_is_answered_fails_its_trial_only(run_script):
    script = """
import math
import os
import threading
import time
import bapi
from bapi._workers import WorkerPool

def train(trial):
    if trial.number == 1:
        threading.Timer(0.05, os._exit, (3,)).start()
        trial.report(1, math.nan)
    for epoch in trial.epochs():
        trial.report(epoch, 0.5)

def late(wait):
    def wait_late(pool, seconds):
        time.sleep(0.3)  # the report and the end of its worker are read at once
        return wait(pool, seconds)
    return wait_late

if __name__ == "__main__":
    WorkerPool.wait = late(WorkerPool.wait)
    study = bapi.tune(train, space={"lr": bapi.Float(0, 1)}, budget="8 epochs", max_epochs=2, workers=2,
                      policy="random")
    print(study.state, study.trials[1].state, study.spent)
"""
    assert "finished failed 8.0" in run_script(script)


def test_ctrl_c_pauses_workers_at_their_next_report(run_script, tmp_path):
    process = run_script(SCRIPT.format(workers=2), wait=False)
    for _ in range(20):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=200)
    assert process.returncode == 0 and "paused" in err
    study = bapi.open_study(tmp_path / "s.bapi")
    assert study.state == "interrupted"
    assert "finished 150" in run_script(SCRIPT.format(workers=2))


SLOW_TO_START = """
import multiprocessing, os, time
if multiprocessing.current_process().name != "MainProcess":
    os.write(1, b"a worker imports the script\\n")  # at once; print writes text and newline apart
    time.sleep(1.5)
"""


def test_ctrl_c_while_workers_start_fails_nothing(run_script, tmp_path):
    slow = SLOW_TO_START + SCRIPT.format(workers=2)
    process = run_script(slow, wait=False, start_new_session=True)
    assert process.stdout.readline() == "a worker imports the script\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, err = process.communicate(timeout=200)
    assert "paused" in err and "Traceback" not in err
    study = bapi.open_study(tmp_path / "s.bapi")
    assert study.state == "interrupted" and not any(trial.failure for trial in study.trials)


UNGUARDED = """
import bapi

def train(trial):
    for epoch in trial.epochs():
        trial.report(epoch, 0.5)

bapi.tune(train, space={"x": bapi.Float(0, 1)}, budget="9 epochs", max_epochs=3, storage="s.bapi", workers=2)
"""


def test_workers_that_do_not_start_are_an_error_of_the_script(run_script, tmp_path):
    process = run_script(UNGUARDED, wait=False)
    _, err = process.communicate(timeout=200)
    assert process.returncode == 1 and 'needs `if __name__ == "__main__":`' in err.splitlines()[-1]
    assert not any(trial.failure for trial in bapi.open_study(tmp_path / "s.bapi").trials)


def test_a_function_of_an_interactive_session_is_refused(tmp_path):
    done = subprocess.run(
        [sys.executable, "-"],
        input=UNGUARDED,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert "defined in a notebook or an interactive session" in done.stderr.splitlines()[-1]


def test_a_function_that_cannot_be_sent_is_refused():
    with pytest.raises(bapi.InvalidInput, match="top level of a module"):
        bapi.tune(lambda trial: None, workers=2, **LOOP)


CLEANED = """
import bapi
from conftest import quality

def train(trial):
    path = trial.checkpoint_dir / "epoch"
    saved = int(path.read_text()) if path.exists() else 0
    if saved != trial.from_epoch:
        raise RuntimeError(f"told to continue after epoch {trial.from_epoch}, where {saved} are saved")
    for epoch in trial.epochs(saved):
        path.write_text(str(epoch))
        trial.report(epoch, quality(trial.config, epoch))

if __name__ == "__main__":
    for budget in 60, 120, 240:
        study = bapi.tune(train, space={"lr": bapi.Float(1e-6, 1, log=True)}, budget=f"{budget} epochs", max_epochs=9,
                          policy="hyperband", storage="s.bapi", workers=2, checkpoints={"keep": "best 1"})
    print("failed", sum(trial.state == "failed" for trial in study.trials))
"""


def test_workers_continue_where_their_checkpoint_is(tmp_path, run_script):
    """Trials that lost theirs to the rule about what is kept begin anew when a larger budget takes them up again."""
    assert "failed 0" in run_script(CLEANED)


def test_tune_and_study_have_the_same_defaults():
    def defaults(function):
        return {name: p.default for name, p in inspect.signature(function).parameters.items()}

    of_tune, of_study = defaults(bapi.tune), defaults(bapi.Study.__init__)
    shared = of_tune.keys() & of_study.keys()
    assert len(shared) > 15
    assert {name: of_tune[name] for name in shared} == {name: of_study[name] for name in shared}
