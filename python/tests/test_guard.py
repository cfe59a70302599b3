"""Workers and what they start end and stop with the process that has the study."""

import os
import signal
import time

import pytest

import bapi

# Every trial has a child in a session of its own, which writes down that it lives.
SCRIPT = """
import os
import subprocess
import sys
import time
import bapi

CHILD = "import os, time\\nwhile True:\\n  open(f'life.{os.getpid()}', 'w').write(str(time.time()))\\n  time.sleep(0.02)"

def train(trial):
    child = subprocess.Popen([sys.executable, "-S", "-c", CHILD], start_new_session=True)
    os.write(1, f"{os.getpid()}\\n{child.pid}\\n".encode())
    for epoch in trial.epochs():
        time.sleep(0.05)
        trial.report(epoch, 0.5)
        open(f"life.{os.getpid()}", "w").write(str(time.time()))
    time.sleep(1000)

if __name__ == "__main__":
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    other = subprocess.Popen(["sleep", "1000"], start_new_session=True, **quiet)
    print("other", other.pid, flush=True)
    study = bapi.tune(train, space={"x": bapi.Float(0, 1)}, budget=BUDGET, max_epochs=EPOCHS, storage="s.bapi",
                      workers=2, policy="random", grace=0.1)
    print("finished", study.spent, other.poll(), flush=True)
"""


def wait_for(condition):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come about")


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0]
    except OSError:
        return None


def is_alive(pid):
    return state_of(pid) not in (b"Z", b"X", None)


def lives(tmp_path):
    return {file.name: file.read_text() for file in tmp_path.glob("life.*")}


@pytest.fixture
def guarded(run_script):
    """A process that tunes in two workers, the numbers of these and of their children, and that of somebody else."""
    others = []

    def start(budget, epochs=1000):
        script = SCRIPT.replace("BUDGET", repr(budget)).replace("EPOCHS", str(epochs))
        process = run_script(script, wait=False, start_new_session=True)
        others.append(int(process.stdout.readline().split()[1]))
        return process, [int(process.stdout.readline()) for _ in range(4)], others[-1]

    yield start
    for other in others:
        if is_alive(other):
            os.kill(other, signal.SIGKILL)


def test_nothing_outlives_kill_9(guarded, tmp_path):
    process, pids, other = guarded("100s")
    wait_for(lambda: len(lives(tmp_path)) >= 4)
    process.kill()
    process.communicate()
    wait_for(lambda: not any(is_alive(pid) for pid in pids))
    assert is_alive(other)


def test_ctrl_z_pauses_workers_and_costs_nothing(guarded, tmp_path):
    begin = time.monotonic()
    process, pids, _ = guarded("1000s")
    wait_for(lambda: len(lives(tmp_path)) >= 4)
    process.send_signal(signal.SIGTSTP)
    wait_for(lambda: all(state_of(pid) in (b"T", b"Z", None) for pid in pids))
    before = lives(tmp_path)
    time.sleep(3.0)
    assert lives(tmp_path) == before
    process.send_signal(signal.SIGCONT)
    wait_for(lambda: lives(tmp_path) != before)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=200)
    assert bapi.open_study(tmp_path / "s.bapi").spent <= 2 * (time.monotonic() - begin - 3.0)
    assert not any(is_alive(pid) for pid in pids)


def test_what_workers_started_ends_with_the_study_and_nobody_else_does(guarded, tmp_path):
    process, pids, other = guarded("60 epochs", epochs=20)
    out, err = process.communicate(timeout=200)
    assert "finished" in out and out.split()[-1] == "None", err
    assert not any(is_alive(pid) for pid in pids)
    assert is_alive(other)
