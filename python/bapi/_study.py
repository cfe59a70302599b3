"""Studies: asking and telling, and everything that can be read off one."""

from __future__ import annotations

import dataclasses
import html
import os
import pathlib
import tempfile
import warnings
import weakref
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _core
from ._arguments import number, whole_number
from ._segment import Segment, SegmentFields, config_text
from ._space import Space, space_parts
from ._tables import Picture, Table, curve_svg, html_table

Path = Union[str, "os.PathLike[str]"]
Budget = Union[str, int, float]


class DamagedStudyWarning(UserWarning):
    """The log of a study cannot be read to its end. The message names the event at which it stops."""


@dataclass(frozen=True)
class Best:
    """The best that a study has found so far."""

    value: float
    config: Dict[str, Any]
    trial: int
    epoch: int
    checkpoint: Optional[pathlib.Path]


@dataclass(frozen=True)
class Trial:
    """One configuration and its learning curve, as the log has it."""

    number: int
    state: str
    config: Dict[str, Any]
    values: List[float]
    costs: List[float]
    spent: float
    failure: str
    why: str

    @property
    def epochs(self) -> int:
        """How many epochs were trained."""
        return len(self.values)

    def _repr_html_(self) -> str:
        lines = [f"<b>trial {self.number}</b>: {self.state}, {html.escape(config_text(self.config))}"]
        if self.failure:
            lines.append(html.escape(self.failure))
        if not self.values:
            return "<br>".join([*lines, "no epoch reported"])
        lines.append(f"epochs 1 to {self.epochs}, last value {self.values[-1]:.4g}, spent {self.spent:.4g}")
        return "<br>".join(lines) + "<br>" + curve_svg(self.values)


@dataclass(frozen=True)
class Plan:
    """What the planner would train next within `budget`, of which `left` is not used.

    Every row of `runs` has trial (None: a new one), from, until, cost, predicted value with its 80 % band, expected
    improvement and config; `outlook` is the best value to be expected after none, one, two, ... of the runs.
    """

    budget: float
    left: float
    runs: Table
    outlook: Table

    def __repr__(self) -> str:
        used = f"{self.budget - self.left:.4g} of {self.budget:.4g}"
        return f"Plan({len(self.runs)} runs, {used})\n{self.runs}"

    def _repr_html_(self) -> str:
        return html_table(self.runs)


@dataclass(frozen=True)
class StudyOptions:
    """The arguments that `bapi.tune` and `bapi.Study` share; `bapi.tune` says what each means."""

    space: Space
    budget: Budget
    max_epochs: int
    storage: Optional[Path] = None
    goal: str = "maximize"
    metric: str = "value"
    workers: int = 1
    policy: str = "bapi"
    policy_options: Optional[Mapping[str, Any]] = None
    seed: int = 0
    deadline: Optional[Budget] = None
    min_epochs: int = 1
    checkpoints: bool = True
    max_failures: int = 10
    grace: Budget = 2.0

    @classmethod
    def among(cls, arguments: Mapping[str, Any]) -> "StudyOptions":
        """Those of a call, out of all its arguments (`locals()` at its beginning)."""
        return cls(**{field.name: arguments[field.name] for field in dataclasses.fields(cls)})

    @property
    def root(self) -> Optional[str]:
        """The directory of the study; None in memory."""
        return study_root(self.storage)[0]

    def spec(self) -> "_core.Spec":
        """The specification of the study, checked."""
        given = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        del given["storage"]
        for name in ("max_epochs", "min_epochs", "workers", "seed", "max_failures"):
            given[name] = whole_number(given[name], name)
        given["name"] = study_root(self.storage)[1]
        given["space"] = space_parts(self.space)
        given["policy_options"] = dict(self.policy_options or {})
        given["checkpoints"] = bool(self.checkpoints)
        return _core.Spec(given)


def study_root(storage: Optional[Path]) -> Tuple[Optional[str], str]:
    """The directory of a study, NAME.bapi, and its name."""
    if storage is None:
        return None, "study"
    path = pathlib.Path(storage)
    if not path.name or "://" in str(storage):
        raise _core.InvalidInput(f"storage: found {str(storage)!r}, expected a directory such as 'mlp.bapi'")
    if path.suffix != ".bapi":
        path = path.with_name(path.name + ".bapi")
    return str(path), path.stem


def _flat_prediction(run: Dict[str, Any]) -> Dict[str, Any]:
    """A planned run with its prediction as columns: predicted, low, high."""
    flat: Dict[str, Any] = {}
    for name, value in run.items():
        flat.update(
            {"predicted": value["mean"], "low": value["low"], "high": value["high"]}
            if name == "predicted"
            else {name: value}
        )
    return flat


def _shown(path: pathlib.Path) -> str:
    """Relative where that is shorter for the reader: below the working directory."""
    try:
        return str(path.relative_to(pathlib.Path.cwd()))
    except (OSError, ValueError):
        return str(path)


# Studies of this process, so that a forked child does not keep them locked.
_open_studies: "weakref.WeakSet[Study]" = weakref.WeakSet()


def _abandon_studies() -> None:
    for study in list(_open_studies):
        study._core.abandon()


os.register_at_fork(after_in_child=_abandon_studies)


class Study:
    """A study for people with their own training loop: ask for a segment, train it, tell every epoch.

    With `storage` the study lives in a directory NAME.bapi, as those of the program `bapi` do: it can be looked at with
    `bapi status`, and a study that exists goes on where it was. The arguments are those of `bapi.tune`. Until `close`
    (or the end of a `with` block) no other process may drive it. A process forked from this one cannot use it.

    >>> from bapi import Float
    >>> study = Study(space={"lr": Float(1e-4, 1, log=True)}, budget="30 epochs", max_epochs=10, policy="random")
    >>> while (segment := study.ask()) is not None:
    ...     for epoch in segment.epochs():
    ...         advice = segment.report(epoch, value=-abs(segment.config["lr"] - 0.01) / epoch)
    >>> study.finished, len(study.trials)
    (True, 3)
    """

    def __init__(
        self,
        *,
        space: Space,
        budget: Budget,
        max_epochs: int,
        storage: Optional[Path] = None,
        goal: str = "maximize",
        metric: str = "value",
        workers: int = 1,
        policy: str = "bapi",
        policy_options: Optional[Mapping[str, Any]] = None,
        seed: int = 0,
        deadline: Optional[Budget] = None,
        min_epochs: int = 1,
        checkpoints: bool = True,
        max_failures: int = 10,
        grace: Budget = 2.0,
    ) -> None:
        options = StudyOptions.among(locals())
        self._take(*_core.Study.drive(options.spec(), options.root))

    @classmethod
    def _driven(cls, options: StudyOptions) -> "Study":
        study = cls.__new__(cls)
        study._take(*_core.Study.drive(options.spec(), options.root))
        return study

    def _take(self, core: "_core.Study", notes: List[str]) -> None:
        self._core = core
        self._about = core.about()
        self._scratch: Optional[str] = None
        self.notes = notes
        """What is to be said of the opening: a new study, or what was changed in one that existed."""
        _open_studies.add(self)

    # ---- asking and telling

    def ask(self) -> Optional[Segment]:
        """The next segment to be trained; None if there is none.

        There is none when the study has `finished`, or when as many segments as it has workers are out.
        """
        fields = self._core.ask()
        return None if fields is None else Segment(self, SegmentFields(**fields), self._about["max_epochs"])

    def report(self, trial: int, epoch: int, value: float, cost: Optional[float] = None) -> Tuple[str, int]:
        """Tells an epoch of a trial that is out: (answer, end of the segment). `Segment.report` is the usual way."""
        return self._core.report(trial, epoch, value, cost)

    def fail(self, trial: int, message: str) -> None:
        """The training of a trial that is out has crashed."""
        self._core.fail(trial, message)

    def complete(self, trial: int) -> None:
        """The training of a trial that is out is over although epochs are left; it is not continued."""
        self._core.complete(trial)

    def charge(self, trial: int, cost: float) -> None:
        """What a trial that is out cost besides its epochs, in the budget's unit; for those who tell costs."""
        self._core.charge(trial, number(cost, "cost"))

    def put_back(self, trial: int, reason: str = "put back") -> None:
        """A trial that is out cannot be trained now; its segment is handed out again, before anything new."""
        self._core.put_back(trial, reason)

    def add_trial(
        self,
        config: Mapping[str, Any],
        values: Sequence[float],
        costs: Optional[Sequence[float]] = None,
        state: str = "completed",
        message: str = "",
    ) -> int:
        """A trial that was trained elsewhere: its configuration and its curve, from epoch 1 on. Returns its number.

        `state` is "completed", "paused" or "failed". Its costs (1 per epoch by default) are charged to the budget.
        """
        if state not in ("completed", "paused", "failed"):
            raise _core.InvalidInput(f'state: found {state!r}, expected "completed", "paused" or "failed"')
        curve = [number(value, "values") for value in values]
        prices = [1.0] * len(curve) if costs is None else [number(cost, "costs") for cost in costs]
        return self._core.adopt(dict(config), curve, prices, state, message)

    def directory(self, trial: int) -> str:
        """The directory of a trial; temporary for a study in memory."""
        if self._core.root is not None:
            return self._core.trial_dir(trial)
        if self._scratch is None:
            keeper = tempfile.TemporaryDirectory(prefix="bapi-")
            self._scratch = keeper.name
            self._keeper = keeper
        path = pathlib.Path(self._scratch) / f"{trial:04}"
        (path / "checkpoint").mkdir(parents=True, exist_ok=True)
        return str(path)

    def close(self) -> None:
        """Lets other processes drive the study. What is out is put back. It can still be read."""
        self._core.close()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- reading

    @property
    def name(self) -> str:
        """The study's name."""
        return str(self._about["name"])

    @property
    def path(self) -> Optional[pathlib.Path]:
        """The study's directory; None in memory."""
        return None if self._core.root is None else pathlib.Path(self._core.root)

    @property
    def state(self) -> str:
        """Whether it is "new", "running", "interrupted" or "finished"."""
        return str(self._core.status()["state"])

    @property
    def finished(self) -> bool:
        """Whether nothing will be handed out any more."""
        return self._core.ended() if self._core.driving else self.state == "finished"

    @property
    def reason(self) -> str:
        """Why it has ended; empty if it has not."""
        return self._core.end_reason() if self._core.driving else str(self._core.status()["reason"])

    def status(self) -> Dict[str, Any]:
        """Name, policy, state, budget, numbers of trials, best: what `bapi status -f json` prints."""
        return self._core.status()

    @property
    def spent(self) -> float:
        """What was spent, in the budget's unit."""
        return self._core.progress()[0]

    @property
    def best(self) -> Optional[Best]:
        """The best value so far, with its configuration and checkpoint; None until something was reported."""
        found = self._core.status()["best"]
        if found is None:
            return None
        checkpoint = None if found["checkpoint"] is None else pathlib.Path(found["checkpoint"])
        return Best(found["value"], found["config"], found["trial"], found["epoch"], checkpoint)

    @property
    def trials(self) -> List[Trial]:
        """Every trial with its curve."""
        return [Trial(**self._core.trial(number)) for number in range(self._core.progress()[3])]

    def trials_dataframe(self) -> Any:
        """One row per trial: trial, state, epochs, best, spent, config.NAME. A list of dicts without pandas."""
        return Table(self._core.trials()).dataframe()

    def curves_dataframe(self) -> Any:
        """One row per epoch of every trial: trial, epoch, value, cost. A list of dicts without pandas."""
        return Table(
            {"trial": trial.number, "epoch": i + 1, "value": value, "cost": trial.costs[i]}
            for trial in self.trials
            for i, value in enumerate(trial.values)
        ).dataframe()

    def ledger(self) -> Table:
        """One row per charge: seq, trial, epoch, kind, cost. The costs add up to what was spent."""
        return Table(self._core.ledger())

    def decisions(self) -> Table:
        """One row per decision, with its reason."""
        return Table(self._core.decisions())

    def explain(self, trial: Optional[int] = None) -> Table:
        """Why every decision, or every decision about one trial, was made.

        One row per decision: seq, at, trial, decision, rule, because (in words), reason and assignment (all numbers as
        the log has them).
        """
        return Table(self._core.explain(trial))

    def plot(self, kind: str = "curves") -> Picture:
        """A picture: "curves" of all trials, "incumbent" (best value over budget), or "budget" by trial."""
        return Picture(self._core.plot(kind))

    def plan(self, horizon: Optional[int] = None) -> Plan:
        """What the planner would train next with what is left, and what it expects of it.

        `horizon` is the number of runs to look ahead, 1 to 16; by default that of the study's policy.
        """
        record = self._core.plan(None if horizon is None else whole_number(horizon, "horizon"))
        runs = Table(_flat_prediction(run) for run in record["runs"])
        return Plan(record["budget"], record["left"], runs, Table(record["outlook"]))

    def what_if(self, budget: Budget) -> Table:
        """The best value to be expected with another total ("3h"; a number: seconds) or with more ("+1h").

        What `bapi what-if -f json` prints, one row after each further run (of many every second, fourth, ...): runs,
        budget (spent in total by then), best, and its 80 % band low to high. Ends when the budget does, or when further
        runs add hardly anything; the last row is the budget that was asked for.
        """
        return Table(self._core.what_if(str(budget)))

    def forecast(self, trial: int) -> Dict[str, Any]:
        """How the curve of a trial is expected to go on: stop, cost_to_finish, chance_of_best, course with bands.

        `rows` is what `bapi forecast STUDY TRIAL -f json` prints, the measured values beside the expected ones.
        """
        return self._core.forecast(trial)

    def forecasts(self) -> Table:
        """Every trial that can still grow, the most promising first: what `bapi forecast -f json` prints."""
        return Table(self._core.forecasts())

    def __repr__(self) -> str:
        _, _, best, trials = self._core.progress()
        shown = "none yet" if best is None else f"{best:.4g}"
        where = "in memory" if self.path is None else _shown(self.path)
        return f"Study({self.name}, {where}: {trials} trials, {self._core.spending()}, best {shown})"

    def _repr_html_(self) -> str:
        status = self.status()
        best = status["best"]
        lines = [
            f"<b>{html.escape(self.name)}</b> ({html.escape(status['policy'])}): {status['state']}",
            f"{html.escape(self._core.spending())} spent",
        ]
        if best is not None:
            lines.append(
                f"best {html.escape(self._about['metric'])} {best['value']:.4g}: trial {best['trial']}, "
                f"epoch {best['epoch']}, {html.escape(config_text(best['config']))}"
            )
        return "<br>".join(lines) + self._core.plot("curves")


def open_study(path: Path) -> Study:
    """A study on disk, to be looked at: a directory NAME.bapi or its name. Works while it runs.

    If its log is damaged, a DamagedStudyWarning says so, and the study is shown up to the damage.
    """
    study = Study.__new__(Study)
    study._take(_core.Study.look(os.fspath(path)), [])
    damage = study._core.damage()
    if damage is not None:
        event, what = damage
        where = study._core.root
        warnings.warn(
            f"{where}: {what}. What is shown is the study up to event {event - 1}; see bapi doctor {where}",
            DamagedStudyWarning,
            stacklevel=2,
        )
    return study
