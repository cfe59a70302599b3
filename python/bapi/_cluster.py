"""Studies in a database: led by `bapi.tune`, trained by `bapi.tune` and `bapi.work` on any machine."""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
from typing import Any, Callable, List, Optional, Tuple

from . import _core
from ._arguments import whole_number
from ._callbacks import Messenger
from ._environment import variables_set
from ._executor import Raised, Task, Train, Work
from ._interrupt import on_ctrl_c, on_signals_to_leave
from ._processes import ProcessExecutor, refuse_what_processes_cannot_import
from ._segment import SegmentFields
from ._study import Budget, Path, Study, StudyOptions
from ._workers import WorkerPool

Carry = Optional[Tuple[str, str]]


class _SiteHome:
    """Where a worker's files are: logs with the worker, checkpoints where all workers find them."""

    def __init__(self, site: "_core.Site", carry: Carry) -> None:
        self._site = site
        self._about = site.about()
        self._carry = carry

    def task(self, fields: SegmentFields) -> Task:
        about = self._about
        directory, models = self._site.trial_dir(fields.trial, fields.config)
        counts = (about["goal"], about["smooth"], about["of"])
        return Task(fields, directory, about["max_epochs"], about["metric"], counts, models, self._carry)


class _Crew:
    """The processes of this worker: a pool for each of its lives."""

    def __init__(self, train: Train, catch: Any = (), carry: Carry = None) -> None:
        refuse_what_processes_cannot_import(train)
        self._work = Work(train, catch)
        self._carry = carry
        self._pools: List[WorkerPool] = []

    def pool(self, site: "_core.Site") -> WorkerPool:
        """A new one."""
        processes = ProcessExecutor(site.spec)
        pool = WorkerPool(_SiteHome(site, self._carry), self._work, processes, processes.guard)
        self._pools = [*(old for old in self._pools if old.raised is not None), pool]
        return pool

    @property
    def raised(self) -> Optional[Raised]:
        """The first exception that no trial is to blame for."""
        return next((pool.raised for pool in self._pools if pool.raised is not None), None)


class _Watch:
    """What the calling thread does meanwhile: signals, lines for people, the display."""

    def __init__(self, update: Callable[[], None], say: Callable[[str], None]) -> None:
        self._update = update
        self._say = say
        self._leaves = False

    def press(self, number: int, frame: Any) -> None:
        """The first signal lets the programs reach their next report; Ctrl-C after that ends at once."""
        if self._leaves and number == signal.SIGINT:
            signal.default_int_handler(number, frame)
        self._leaves = True

    def look(self, lines: List[str]) -> bool:
        """Whether to leave."""
        for line in lines:
            self._say(line)
        self._update()
        return self._leaves


def _say(line: str) -> None:
    sys.stderr.write(f"bapi: {line}\n")


class Led:
    """A study in a database that this process leads from `open` until it was run."""

    def __init__(self, options: StudyOptions, directory: Optional[Path]) -> None:
        storage = os.fspath(options.storage or "")
        self._slots = None if options.workers is None else whole_number(options.workers, "workers")
        if self._slots == 0:
            options = dataclasses.replace(options, workers=None)
        name = storage.partition("#")[2]
        files = os.path.abspath(os.fspath(directory) if directory is not None else f"{name}.bapi")
        self._core, notes = _core.open_to_lead(options.spec(), storage, files if name else "")
        self.study = Study.__new__(Study)
        self.study._take(_core.Study.look(storage), notes)
        self._storage = _core.place_of(storage)[0]

    def run(self, train: Train, display: Messenger, catch: Any) -> Tuple[str, str, Optional[BaseException]]:
        """Runs it to its end: how it ended, why, and what was raised in this machine's workers."""
        crew = _Crew(train, catch)
        watch = _Watch(display.update, _say)
        self.study._core.notices()  # from now on
        pool = None if self._slots == 0 else crew.pool
        with variables_set({"BAPI_STORAGE": self._storage}), on_ctrl_c(watch.press):
            end, reason = self._core.run(self._slots, pool, watch.look)
        return end, reason, crew.raised.error() if crew.raised is not None else None

    def close(self) -> None:
        """Lets others lead it."""
        self._core.close()


def work(
    study: str,
    train: Train,
    *,
    slots: Optional[int] = None,
    directory: Optional[Path] = None,
    checkpoints: str = "shared",
    fetch: Optional[str] = None,
    push: Optional[str] = None,
    scratch: Optional[Path] = None,
    lead: bool = True,
    patience: Budget = 600.0,
    catch: Any = (),
    quiet: bool = False,
) -> bool:
    """Trains for a study in a database until it has finished; the counterpart of `bapi worker` for a Python function.

    Returns True when the study has finished, and False when this worker was told to leave: by Ctrl-C, SIGTERM or
    SIGUSR1. Its trainings then reach their next report within the grace period, and continue elsewhere.

    study: address of the study, "postgresql://user@host/database#name", or its name if BAPI_STORAGE is set. It was
        created by `bapi.tune(..., storage=address)`.
    train: the training function, as for `bapi.tune`. It runs in processes started by "spawn": it must be at the top level
        of a module, and the script needs `if __name__ == "__main__":`.
    slots: number of trials to train at the same time; default: one, or one for each place of the study's GPUs here.
    directory: directory for checkpoints that all workers share, as this machine sees it; default: the study's own.
    checkpoints: "shared", or "local" if they stay with this worker: a trial that another worker continues then starts
        again at epoch 1.
    fetch, push: shell commands that carry checkpoints where machines share no directory, as those of `bapi worker`.
    scratch: directory for this worker's own files; default: workers/HOST-PID in the shared directory.
    lead: whether to lead the study, in a process of its own, when it has had no leader for 15 seconds.
    patience: how long to try again when the database cannot be reached.
    catch: exceptions of `train` that fail their trial even before the first report of the study.
    quiet: whether to say nothing on standard error.
    """
    if not callable(train):
        raise _core.InvalidInput(f"train: found {train!r}, expected a function that takes a trial")
    if checkpoints not in ("shared", "local"):
        raise _core.InvalidInput(f"checkpoints: found {checkpoints!r}, expected 'shared' or 'local'")
    if (fetch is None) != (push is None):
        raise _core.InvalidInput("give fetch and push together: what one worker pushes, another one fetches")
    if sum((fetch is not None, directory is not None, checkpoints != "shared")) > 1:
        raise _core.InvalidInput("give one of fetch and push, directory, or checkpoints: checkpoints are in one place")
    carry = None if fetch is None or push is None else (fetch, push)
    crew = _Crew(train, catch, carry)
    storage, name = _core.place_of(os.fspath(study))
    watch = _Watch(_Failures(crew, quiet).tell, (lambda line: None) if quiet else _say)
    with variables_set({"BAPI_STORAGE": storage}), on_signals_to_leave(watch.press):
        finished = _core.work(
            "#" + name,
            slots=None if slots is None else whole_number(slots, "slots"),
            checkpoints="carried" if carry else checkpoints,
            directory="" if directory is None else os.path.abspath(directory),
            scratch="" if scratch is None else os.path.abspath(scratch),
            lead=_leader() if lead else [],
            patience=str(patience),
            make_pool=crew.pool,
            look=watch.look,
        )
    if not quiet:
        _say("the study has finished" if finished else "left the study; its trials continue elsewhere")
    return bool(finished)


class _Failures:
    """Shows where the function of a worker raises: the study keeps a line of it, and may wait because of it."""

    def __init__(self, crew: _Crew, quiet: bool) -> None:
        self._crew = crew
        self._told = quiet

    def tell(self) -> None:
        """Once."""
        raised = self._crew.raised
        if raised is None or self._told:
            return
        self._told = True
        _say(f"the training function raised an exception (of later ones only `bapi show` tells)\n{raised.trace}")


def _leader() -> List[str]:
    """A process that leads, whatever this one has done to its path."""
    above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = f"import sys; sys.path.insert(0, {above!r}); from bapi._cluster import lead; lead(sys.argv[1])"
    return [sys.executable, "-c", code]


def lead(study: str) -> None:
    """Leads a study in a database that has no leader, as `bapi lead`."""
    watch = _Watch(lambda: None, _say)
    try:
        with on_signals_to_leave(watch.press):
            end, reason = _core.lead(study, watch.look)
    except _core.Error as error:
        _say(str(error))
        sys.exit(3)
    _say(f"{end}: {reason}")
