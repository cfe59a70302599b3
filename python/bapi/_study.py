"""Studies: asking and telling, and everything that can be read off one."""

from __future__ import annotations

import base64
import dataclasses
import difflib
import html
import json
import os
import pathlib
import tempfile
import warnings
import weakref
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union

from . import _core
from ._arguments import goal_of, number, whole_number
from ._segment import Segment, SegmentFields, config_text
from ._space import Space, space_parts
from ._tables import Picture, Table, curve_svg, html_table

Path = Union[str, "os.PathLike[str]"]
Budget = Union[str, int, float]


class DamagedStudyWarning(UserWarning):
    """The log of a study cannot be read to its end. The message names the event at which it stops."""


class NoResult(_core.Error):
    """A study was asked for its best result before any trial had reported a value."""


@dataclass(frozen=True)
class Best:
    """The best that a study has found so far."""

    value: float
    config: Dict[str, Any]
    trial: int
    epoch: int
    checkpoint: Optional[pathlib.Path]
    """The directory with the model; None if none was saved."""
    checkpoint_epoch: Optional[int]
    """The epoch that the model is of; None if that is not known."""
    checkpoint_note: Optional[str]
    """Why the model is not that of `epoch`, or what else is to be known of it."""
    standard_error: Optional[float] = None
    """Of `value`, where it is the mean of several trainings (`repeat`); None for a single one."""
    trainings: int = 1
    """How often the configuration was trained; `trial` is the best of them."""


@dataclass(frozen=True)
class Trial:
    """One configuration and its learning curve, as the log has it.

    `values` and `costs` belong to the epochs in `reported`: 1, 2, 3, ... A program that was ended after it had saved an
    epoch, and before it reported it, leaves that epoch out.
    """

    number: int
    state: str
    config: Dict[str, Any]
    reported: List[int]
    values: List[float]
    costs: List[float]
    spent: float
    failure: str
    why: str
    metrics: Dict[str, List[Optional[float]]] = dataclasses.field(default_factory=dict)
    """The other metrics of the reports, each with a value (or None) for every epoch in `reported`."""
    counted: List[float] = dataclasses.field(default_factory=list)
    """`values` as they count: with `smooth`, means of the last reports; otherwise the same."""
    repeat_of: Optional[int] = None
    """The trial whose configuration was trained again with another seed (`repeat`); None for a first training."""

    @property
    def epochs(self) -> int:
        """How many epochs were trained."""
        return self.reported[-1] if self.reported else 0

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
    improvement and config; `outlook` is the best value to be expected after none, one, two, ... of them.
    """

    budget: float
    left: float
    runs: Table
    outlook: Table

    def __repr__(self) -> str:
        used = f"{self.budget - self.left:.4g} of {self.budget:.4g}"
        return f"Plan({len(self.runs)} trials, {used})\n{self.runs}"

    def _repr_html_(self) -> str:
        return html_table(self.runs)


# What keys of a study file are called as arguments where their names are words of Python's own.
_STUDY_KEYS = {"tries": "try", "warm_start": "from"}


@dataclass(frozen=True)
class StudyOptions:
    """The arguments that `bapi.tune` and `bapi.Study` share, with their defaults; `bapi.tune` says what each means."""

    space: Space
    budget: Budget
    max_epochs: int
    storage: Optional[Path] = None
    goal: Optional[str] = None
    direction: Optional[str] = None
    metric: Union[str, Mapping[str, Any]] = "value"
    workers: Optional[int] = None
    policy: str = "bapi"
    policy_options: Optional[Mapping[str, Any]] = None
    seed: int = 0
    deadline: Optional[Budget] = None
    min_epochs: int = 1
    checkpoints: Union[bool, Mapping[str, Any]] = True
    max_failures: int = 10
    grace: Budget = 2.0
    more: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def among(cls, arguments: Mapping[str, Any]) -> "StudyOptions":
        """Those of a call, out of all its arguments (`locals()` at its beginning)."""
        return cls(**{field.name: arguments[field.name] for field in dataclasses.fields(cls)})

    @property
    def root(self) -> Optional[str]:
        """The directory of the study; None in memory."""
        return study_root(self.storage)[0]

    def spec(self) -> "_core.Spec":
        """The specification of the study; the engine reads it as it reads a study file."""
        file = {
            "metric": self._metric(),
            "budget": self.budget,
            "epochs": {
                "min": whole_number(self.min_epochs, "min_epochs"),
                "max": whole_number(self.max_epochs, "max_epochs"),
            },
            **({} if self.workers is None else {"workers": whole_number(self.workers, "workers")}),
            "seed": whole_number(self.seed, "seed"),
            "checkpoint": "kept" if self.checkpoints else "none",
            **({"checkpoints": dict(self.checkpoints)} if isinstance(self.checkpoints, Mapping) else {}),
            "max_failures": whole_number(self.max_failures, "max_failures"),
        }
        optional = {"deadline": self.deadline, "grace": self.grace}
        self._check_more({"name", "parameters", "policy", "workers", *file, *optional})
        more = {_STUDY_KEYS.get(key, key): value for key, value in self.more.items()}
        file.update({key: value for key, value in {**optional, **more}.items() if value is not None})
        return _core.Spec(
            name=study_root(self.storage)[1],
            space=space_parts(self.space),
            policy=self.policy,
            policy_options=dict(self.policy_options or {}),
            file="{" + ", ".join(f'"{key}": {_json(value, key)}' for key, value in file.items()) + "}",
        )

    def _metric(self) -> Dict[str, Any]:
        """As a study file has it: the name, or a mapping with how values count."""
        given = dict(self.metric) if isinstance(self.metric, Mapping) else {"name": self.metric}
        if "goal" in given and (self.goal is not None or self.direction is not None):
            raise _core.InvalidInput("found goal in metric and as an argument; give one")
        return {"name": "value", **given, "goal": goal_of(given.get("goal", self.goal), self.direction)}

    def _check_more(self, taken: Set[str]) -> None:
        """Raises TypeError, as for any function, for a name that is no field of a study or has an argument of its own."""
        arguments = {key: argument for argument, key in _STUDY_KEYS.items()}
        allowed = {arguments.get(key, key) for key in _core.study_keys()} - taken
        for name in self.more:
            if name in allowed:
                continue
            if name in ("n_trials", "timeout"):
                raise TypeError(f"unexpected argument {name!r}; give a budget: '30m' or '500 epochs'")
            own = {field.name for field in dataclasses.fields(self)} - {"more"}
            near = difflib.get_close_matches(name, allowed | own, n=1)
            raise TypeError(f"unexpected argument {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))


def _json(value: Any, name: str) -> str:
    """As the engine reads it; numpy's scalars are numbers, and paths are text."""

    def plain(other: Any) -> Any:
        if hasattr(other, "item"):
            return other.item()
        if hasattr(other, "__fspath__"):
            return os.fspath(other)
        raise _core.InvalidInput(f"{name}: found {other!r}, expected a number, text, True, False, a list or a dict")

    return json.dumps(value, ensure_ascii=False, default=plain)


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
    """A planned trial with its prediction as columns: predicted, low, high."""
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
    `bapi status`, and a study that exists continues where it was. The arguments are those of `bapi.tune`. Until `close`
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
        goal: Optional[str] = None,
        direction: Optional[str] = None,
        metric: Union[str, Mapping[str, Any]] = StudyOptions.metric,
        workers: Optional[int] = None,
        policy: str = StudyOptions.policy,
        policy_options: Optional[Mapping[str, Any]] = None,
        seed: int = StudyOptions.seed,
        deadline: Optional[Budget] = None,
        min_epochs: int = StudyOptions.min_epochs,
        checkpoints: Union[bool, Mapping[str, Any]] = StudyOptions.checkpoints,
        max_failures: int = StudyOptions.max_failures,
        grace: Budget = StudyOptions.grace,
        **more: Any,
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

        There is none when the study has `finished`, when a user has asked to pause it (`paused`), or when as many
        segments as it has workers are out.
        """
        fields = self._core.ask()
        return None if fields is None else self._segment(fields)

    def _segment(self, fields: Dict[str, Any]) -> Segment:
        return Segment(self, SegmentFields(**fields), self._about["max_epochs"], self._about["metric"])

    def report(
        self,
        trial: int,
        epoch: int,
        value: float,
        cost: Optional[float] = None,
        others: Optional[Mapping[str, float]] = None,
    ) -> Tuple[str, int]:
        """Tells an epoch of a trial that is out: (answer, end of the segment). `Segment.report` is the usual way."""
        return self._core.report(trial, epoch, value, cost, dict(others or {}))

    def fail(self, trial: int, message: str) -> None:
        """The training of a trial that is out has crashed."""
        self._core.fail(trial, message)

    def complete(self, trial: int) -> None:
        """Ends the training of a trial that is out before its last epoch; it is not continued."""
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

    def enqueue(self, config: Optional[Mapping[str, Any]] = None, **values: Any) -> None:
        """Asks for a configuration to be tried next, for example `study.enqueue({"lr": 0.1})` or `enqueue(lr=0.1)`.

        The next new trial takes these values instead of those that the policy proposes; what is not given is the
        policy's. Also of a study that another process drives (`bapi.open_study`), if it is on disk.
        """
        self._core.enqueue({**(config or {}), **values})

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
        """The study's directory; None in memory and in a database."""
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
    def paused(self) -> bool:
        """Whether a user has asked to pause (`bapi dashboard`, `bapi pause`): nothing is handed out until it is opened again."""
        return self._core.driving and self._core.asked_to_pause()

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
    def best(self) -> Best:
        """The best value so far, with its configuration and checkpoint. Raises NoResult until one was reported."""
        found = self._core.status()["best"]
        if found is None:
            raise NoResult(self._why_no_result())
        checkpoint = None if found["checkpoint"] is None else pathlib.Path(found["checkpoint"])
        return Best(
            found["value"],
            found["config"],
            found["trial"],
            found["epoch"],
            checkpoint,
            found["checkpoint_epoch"],
            found["checkpoint_note"],
            found.get("standard_error"),
            found.get("trainings", 1),
        )

    def _why_no_result(self) -> str:
        failures = [trial for trial in self.trials if trial.state == "failed"]
        if not failures:
            return f"{self.name}: no trial has reported a value yet"
        last = failures[-1]
        return (
            f"{self.name}: no trial has reported a value, and {len(failures)} failed; the last, trial {last.number}: "
            f"{last.failure}"
        )

    @property
    def trials(self) -> List[Trial]:
        """Every trial with its curve."""
        return [Trial(**self._core.trial(number)) for number in range(self._core.progress()[3])]

    def trials_dataframe(self) -> Any:
        """One row per trial: trial, state, epochs, best, spent, config.NAME. A list of dicts without pandas."""
        return Table(self._core.trials()).dataframe()

    def curves_dataframe(self) -> Any:
        """One row per epoch of every trial: trial, epoch, value, cost, metrics.NAME. A list of dicts without pandas."""
        trials = self.trials
        names = sorted({name for trial in trials for name in trial.metrics})
        return Table(
            {
                "trial": trial.number,
                "epoch": epoch,
                "value": trial.values[row],
                "cost": trial.costs[row],
                **{f"metrics.{name}": trial.metrics[name][row] if name in trial.metrics else None for name in names},
            }
            for trial in trials
            for row, epoch in enumerate(trial.reported)
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
        """A picture: "curves" of all trials, "incumbent" (best value over budget), "budget" by trial, "slices" (results
        over each parameter), "parallel" (configurations as lines), "cost" (against result), "importance", or
        "metrics.NAME": another metric of the reports.
        """
        return Picture(self._core.plot(kind))

    def save_report(self, path: Path) -> pathlib.Path:
        """Writes the page of `bapi dashboard` with the data of the study inside: one file that opens without a network."""
        file = pathlib.Path(path)
        file.write_text(self._core.html(planner=True), encoding="utf-8")
        return file

    def plan(self, horizon: Optional[int] = None) -> Plan:
        """What the planner would train next with the remaining budget, and what it expects of it.

        `horizon` is the number of trials to look ahead, 1 to 16; by default that of the study's policy.
        """
        record = self._core.plan(None if horizon is None else whole_number(horizon, "horizon"))
        runs = Table(_flat_prediction(run) for run in record["runs"])
        return Plan(record["budget"], record["left"], runs, Table(record["outlook"]))

    def what_if(self, budget: Budget) -> Table:
        """The best value to be expected with another total ("3h"; a number: seconds) or with more ("+1h").

        What `bapi what-if -f json` prints, one row after each further trial (of many every second, fourth, ...): runs,
        budget (spent in total by then), best, and its 80 % band low to high. Ends when the budget does, or when further
        trials add hardly anything; the last row is the budget that was asked for.
        """
        return Table(self._core.what_if(str(budget)))

    def forecast(self, trial: int) -> Dict[str, Any]:
        """How the curve of a trial is expected to continue: stop, cost_to_finish, chance_of_best, course with bands.

        `rows` is what `bapi forecast STUDY TRIAL -f json` prints, the measured values next to the expected ones.
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
        return "<br>".join(lines) + _framed(self._core.html(planner=False))


def _framed(page: str, height: int = 720) -> str:
    """A page inside a notebook's cell: a document of its own, without access to the notebook."""
    data = base64.b64encode(page.encode("utf-8")).decode("ascii")
    return (
        f'<iframe src="data:text/html;base64,{data}" sandbox="allow-scripts allow-downloads" title="bapi study" '
        f'style="width: 100%; height: {height}px; border: 1px solid #ccc"></iframe>'
    )


def open_study(path: Path) -> Study:
    """A study to be looked at: a directory NAME.bapi, its name, or postgresql://user@host/database#name.

    Works while the study runs.

    If its log is damaged, a DamagedStudyWarning says so, and the study is shown up to the damage.
    """
    study = Study.__new__(Study)
    study._take(_core.Study.look(os.fspath(path)), [])
    damage = study._core.damage()
    if damage is not None:
        event, what = damage
        where = study._core.root or os.fspath(path)
        warnings.warn(
            f"{where}: {what}. What is shown is the study up to event {event - 1}; see bapi doctor {where}",
            DamagedStudyWarning,
            stacklevel=2,
        )
    return study
