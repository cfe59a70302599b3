"""Studies: ask and tell, and everything that a study can show."""

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
from ._tables import Explanations, Picture, Table, curve_svg, html_table

Path = Union[str, "os.PathLike[str]"]
Budget = Union[str, int, float]


class DamagedStudyWarning(UserWarning):
    """The log of a study is damaged: it can be read only up to the event that the message names."""


class NoResult(_core.Error):
    """No trial of the study has reported a value yet, so there is no best one."""


@dataclass(frozen=True)
class Best:
    """The best result of a study so far."""

    value: float
    config: Dict[str, Any]
    trial: int
    epoch: int
    checkpoint: Optional[pathlib.Path]
    """The directory with the model; None if none was saved."""
    checkpoint_epoch: Optional[int]
    """The epoch that the model is from; None if unknown."""
    checkpoint_note: Optional[str]
    """Why the model is not from `epoch`, or another remark about it; None if there is nothing to say."""
    standard_error: Optional[float] = None
    """Standard error of `value` if it is the mean of several trainings (`repeat`); None for a single one."""
    trainings: int = 1
    """Number of trainings of the configuration; `trial` is the best of them."""


@dataclass(frozen=True)
class Trial:
    """One configuration and its learning curve, as recorded.

    `values` and `costs` belong to the epochs in `reported`: 1, 2, 3, ... An epoch is missing if the program was ended
    after saving it and before reporting it.
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
    """Other reported metrics by name: one value (or None) for every epoch in `reported`."""
    counted: List[float] = dataclasses.field(default_factory=list)
    """The values that are compared: with `smooth`, means of the last reports; otherwise the same as `values`."""
    repeat_of: Optional[int] = None
    """The trial that this one repeats with another seed (`repeat`); None for a first training."""

    @property
    def epochs(self) -> int:
        """Number of epochs trained."""
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
    """What the planner would train next within `budget`; `left` of it would remain.

    Every row of `runs` has trial (None: a new one), from, until, cost, predicted value with its 80 % interval, expected
    improvement and config. `outlook` is the best value expected after none, one, two, ... of them.
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
    """The arguments that `bapi.tune` and `bapi.Study` share, with their defaults; `bapi.tune` describes each."""

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
        """Picks them from all arguments of a call (`locals()` at its beginning)."""
        return cls(**{field.name: arguments[field.name] for field in dataclasses.fields(cls)})

    @property
    def root(self) -> Optional[str]:
        """The directory of the study; None in memory."""
        if is_database(self.storage):
            raise _core.InvalidInput(
                f"storage: found a database, {self.storage}; bapi.Study needs a directory such as 'mlp.bapi'. A study in "
                "a database is led by bapi.tune and trained by bapi.tune and bapi.work"
            )
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
            name="study" if is_database(self.storage) else study_root(self.storage)[1],
            space=space_parts(self.space),
            policy=self.policy,
            policy_options=dict(self.policy_options or {}),
            file="{" + ", ".join(f'"{key}": {_json(value, key)}' for key, value in file.items()) + "}",
        )

    def _metric(self) -> Dict[str, Any]:
        """As in a study file: a mapping with name and goal, and how values count."""
        given = dict(self.metric) if isinstance(self.metric, Mapping) else {"name": self.metric}
        if "goal" in given and (self.goal is not None or self.direction is not None):
            raise _core.InvalidInput("found goal in metric and as an argument; give one")
        return {"name": "value", **given, "goal": goal_of(given.get("goal", self.goal), self.direction)}

    def _check_more(self, taken: Set[str]) -> None:
        """Raises TypeError, as any function does, for a name that is not a field of a study or is another argument."""
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
    """The value as the engine reads it: numpy scalars become numbers, paths become text."""

    def plain(other: Any) -> Any:
        if hasattr(other, "item"):
            return other.item()
        if hasattr(other, "__fspath__"):
            return os.fspath(other)
        raise _core.InvalidInput(f"{name}: found {other!r}, expected a number, text, True, False, a list or a dict")

    return json.dumps(value, ensure_ascii=False, default=plain)


def is_database(storage: Optional[Path]) -> bool:
    """Whether it is the address of a study in a database: postgresql://user@host/database#name, or #name there."""
    return isinstance(storage, str) and storage.startswith(("postgresql://", "postgres://", "#"))


def study_root(storage: Optional[Path]) -> Tuple[Optional[str], str]:
    """The directory of a study, NAME.bapi, and its name."""
    if storage is None:
        return None, "study"
    path = pathlib.Path(storage)
    if not path.name or "://" in str(storage):
        raise _core.InvalidInput(
            f"storage: found {str(storage)!r}, expected a directory such as 'mlp.bapi', or a study in a database, "
            "postgresql://user@host/database#mlp"
        )
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
    """The path, relative if it is below the working directory."""
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
    """A study for your own training loop: ask for a segment, train it, report every epoch.

    With `storage` the study is kept in a directory NAME.bapi, like those of the program `bapi`: `bapi status` shows it,
    and an existing study continues. The arguments are those of `bapi.tune`. Until `close` (or the end of a `with`
    block) no other process can run it. A forked child cannot use it.

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
        """Messages about the opening: that the study is new, or what was changed in an existing one."""
        _open_studies.add(self)

    # ---- ask and tell

    def ask(self) -> Optional[Segment]:
        """Returns the next segment to train, or None.

        None means that the study has `finished`, that a user has asked to pause it (`paused`), or that as many segments
        as the study has workers are being trained already.
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
        """Reports an epoch of a trial in training. Returns (answer, end of the segment). Use `Segment.report` instead."""
        return self._core.report(trial, epoch, value, cost, dict(others or {}))

    def fail(self, trial: int, message: str) -> None:
        """Ends a trial in training as failed."""
        self._core.fail(trial, message)

    def complete(self, trial: int) -> None:
        """Ends a trial in training as completed, even before its last epoch. It is never continued."""
        self._core.complete(trial)

    def charge(self, trial: int, cost: float) -> None:
        """Charges a trial in training for costs other than its epochs, in the budget's unit."""
        self._core.charge(trial, number(cost, "cost"))

    def put_back(self, trial: int, reason: str = "put back") -> None:
        """Returns the segment of a trial in training; `ask` hands it out again before anything new."""
        self._core.put_back(trial, reason)

    def add_trial(
        self,
        config: Mapping[str, Any],
        values: Sequence[float],
        costs: Optional[Sequence[float]] = None,
        state: str = "completed",
        message: str = "",
    ) -> int:
        """Adds a trial that was trained elsewhere: its configuration and its values from epoch 1 on. Returns its number.

        `state` is "completed", "paused" or "failed". The costs (1 per epoch by default) are charged to the budget.
        """
        if state not in ("completed", "paused", "failed"):
            raise _core.InvalidInput(f'state: found {state!r}, expected "completed", "paused" or "failed"')
        curve = [number(value, "values") for value in values]
        prices = [1.0] * len(curve) if costs is None else [number(cost, "costs") for cost in costs]
        return self._core.adopt(dict(config), curve, prices, state, message)

    def enqueue(self, config: Optional[Mapping[str, Any]] = None, **values: Any) -> None:
        """Queues a configuration to try next, for example `study.enqueue({"lr": 0.1})` or `study.enqueue(lr=0.1)`.

        The next new trial takes these values; the policy chooses those that you leave out. Works on a study that another
        process runs (`bapi.open_study`), if it is on disk.
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

    def models(self, trial: int) -> str:
        """The directory that holds the checkpoints of a trial: the same."""
        return self.directory(trial)

    def close(self) -> None:
        """Ends the use of the study, so that other processes can run it; it can still be read.

        Segments in training are put back.
        """
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
        """"new", "running", "interrupted" or "finished"."""
        return str(self._core.status()["state"])

    @property
    def finished(self) -> bool:
        """Whether the study has ended, so that `ask` returns nothing more."""
        return self._core.ended() if self._core.driving else self.state == "finished"

    @property
    def paused(self) -> bool:
        """Whether a user has asked to pause (`bapi pause`, `bapi dashboard`): `ask` returns None until it is opened again."""
        return self._core.driving and self._core.asked_to_pause()

    @property
    def reason(self) -> str:
        """Why the study has ended; empty if it has not."""
        return self._core.end_reason() if self._core.driving else str(self._core.status()["reason"])

    def status(self) -> Dict[str, Any]:
        """Name, policy, state, budget, numbers of trials and best result, as `bapi status -f json` prints them."""
        return self._core.status()

    @property
    def spent(self) -> float:
        """The budget spent so far, in its unit."""
        return self._core.progress()[0]

    @property
    def best(self) -> Best:
        """The best result so far, with its configuration and checkpoint. Raises NoResult before the first report."""
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
        """All trials with their curves."""
        return [Trial(**self._core.trial(number)) for number in range(self._core.progress()[3])]

    def trials_dataframe(self) -> Any:
        """One row per trial: trial, state, epochs, best, spent, config.NAME. Without pandas, a list of dicts."""
        return Table(self._core.trials()).dataframe()

    def curves_dataframe(self) -> Any:
        """One row per epoch of every trial: trial, epoch, value, cost, metrics.NAME. Without pandas, a list of dicts."""
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
        """One row per charge: seq, trial, epoch, kind, cost. The costs add up to `spent`."""
        return Table(self._core.ledger())

    def decisions(self) -> Table:
        """One row per decision, with its reason."""
        return Table(self._core.decisions())

    def explain(self, trial: Optional[int] = None) -> Table:
        """Explains all decisions, or those about one trial.

        One row per decision: seq, at, trial, decision, rule, because (in words), reason and assignment (all numbers as
        stored in the log).
        """
        return Explanations(self._core.explain(trial))

    def plot(self, kind: str = "curves") -> Picture:
        """Draws a picture: "curves" of all trials, "incumbent" (best value over budget), "budget" (by trial), "slices"
        (results over each parameter), "parallel" (configurations as lines), "cost" (against result), "importance" (of
        parameters), or "metrics.NAME" (another reported metric).
        """
        return Picture(self._core.plot(kind))

    def save_report(self, path: Path) -> pathlib.Path:
        """Writes the page of `bapi dashboard` with the study's data: one file that opens without a network."""
        file = pathlib.Path(path)
        file.write_text(self._core.html(planner=True), encoding="utf-8")
        return file

    def plan(self, horizon: Optional[int] = None) -> Plan:
        """Plans what to train with the remaining budget, and predicts the result.

        `horizon` is the number of trials to look ahead, 1 to 16; the default is that of the study's policy.
        """
        record = self._core.plan(None if horizon is None else whole_number(horizon, "horizon"))
        runs = Table(_flat_prediction(run) for run in record["runs"])
        return Plan(record["budget"], record["left"], runs, Table(record["outlook"]))

    def what_if(self, budget: Budget) -> Table:
        """Predicts the best value with another total budget ("3h"; a number: seconds) or with more ("+1h").

        As `bapi what-if -f json`, one row per further trial (of many, every second, fourth, ...): runs, budget (total
        spent by then), best, and its 80 % interval low to high. Ends when the budget is spent or further trials would
        add almost nothing; the last row is the budget that you asked for.
        """
        return Table(self._core.what_if(str(budget)))

    def forecast(self, trial: int) -> Dict[str, Any]:
        """Predicts how the curve of a trial will continue: stop, cost_to_finish, chance_of_best, course with intervals.

        `rows` is what `bapi forecast STUDY TRIAL -f json` prints: measured and expected values by epoch.
        """
        return self._core.forecast(trial)

    def forecasts(self) -> Table:
        """All trials that can continue, the most promising first, as `bapi forecast -f json` prints them."""
        return Table(self._core.forecasts())

    def __repr__(self) -> str:
        _, _, best, trials = self._core.progress()
        shown = "none yet" if best is None else f"{best:.4g}"
        where = self._core.database or ("in memory" if self.path is None else _shown(self.path))
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
    """Opens a study to read it: a directory NAME.bapi, its name, or postgresql://user@host/database#name.

    Works while the study runs. If its log is damaged, a DamagedStudyWarning says so, and the study is shown up to the
    damage.
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
