"""Optuna: its objectives under bapi's planner, and studies from and to its storage.

An objective that calls `trial.report` and `trial.should_prune` runs under bapi by changing two lines:

    planner = Planner(budget="30m", max_epochs=50)
    study = optuna.create_study(direction="maximize", sampler=planner.sampler, pruner=planner.pruner)
    study.optimize(objective)
"""

from __future__ import annotations

import contextlib
import math
import pathlib
import re
import threading
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Union

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.pruners import BasePruner
from optuna.samplers import BaseSampler, RandomSampler
from optuna.trial import FrozenTrial, TrialState

from .._core import InvalidInput
from .._segment import Segment
from .._space import Choice, Float, Int
from .._study import Path, Study, open_study, study_root
from .._tune import TooManyFailures

_GRID = 1000  # a stepped range of at most so many values is a choice
_MAX_FAILURES = 10  # in a row, before the space is known


class _Space:
    """Optuna's distributions as a space of bapi, and values to and fro."""

    def __init__(self, distributions: Mapping[str, BaseDistribution]) -> None:
        self.distributions = dict(distributions)
        self._names = {name: _plain(name, i) for i, name in enumerate(self.distributions)}

    def domains(self) -> Dict[str, Any]:
        return {self._names[name]: _domain(d) for name, d in self.distributions.items()}

    def params(self, config: Mapping[str, Any]) -> Dict[str, Any]:
        return {
            name: d.choices[config[self._names[name]]]
            if isinstance(d, CategoricalDistribution)
            else config[self._names[name]]
            for name, d in self.distributions.items()
        }

    def config(self, params: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
        """None if a parameter is missing."""
        if any(name not in params for name in self.distributions):
            return None
        return {
            self._names[name]: d.choices.index(params[name]) if isinstance(d, CategoricalDistribution) else params[name]
            for name, d in self.distributions.items()
        }


def _plain(name: str, number: int) -> str:
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else f"p{number}"


def _domain(d: BaseDistribution) -> Any:
    if isinstance(d, CategoricalDistribution):
        return Choice(list(range(len(d.choices))), ordered=False) if len(d.choices) > 1 else 0
    if isinstance(d, (FloatDistribution, IntDistribution)):
        if d.single():
            return d.low
        if isinstance(d, IntDistribution) and d.step == 1:
            return Int(d.low, d.high, log=d.log)
        if d.step is not None and (d.high - d.low) / d.step <= _GRID:
            return Choice([d.low + i * d.step for i in range(int((d.high - d.low) / d.step + 1e-9) + 1)], ordered=True)
        return Float(d.low, d.high, log=d.log) if isinstance(d, FloatDistribution) else Int(d.low, d.high, log=d.log)
    raise InvalidInput(f"cannot tune the distribution {d}")


def _curve(trial: FrozenTrial) -> List[float]:
    """The reported values in order, the first being epoch 1; the result alone if nothing was reported."""
    if trial.intermediate_values:
        return [trial.intermediate_values[step] for step in sorted(trial.intermediate_values)]
    return [trial.value] if trial.state == TrialState.COMPLETE and trial.value is not None else []


class Planner:
    """A sampler and a pruner for an Optuna study that share one plan under one budget.

    budget, policy, workers, seed, storage: as in `bapi.tune`; `workers` is Optuna's n_jobs.
    max_epochs: number of reports of an objective that is not pruned; 1 for objectives that do not report.
    space: Optuna's distributions by name. Without it, the first trial is drawn at random and shows them; parameters that
        appear later are drawn at random.

    Every reported step is an epoch. A pruned trial may be chosen again: Optuna then calls the objective again with the
    same parameters, and the planner accounts for that cost. When the budget is spent, `optimize` ends.

    Optuna takes its `best_trial` from completed trials only. If a pruned trial has reported a better value when the
    budget is spent, a copy of it is added as a completed trial, so that `best_params` are the best ones found. Until
    then, `planner.best_params` has them.
    """

    def __init__(
        self,
        *,
        budget: Union[str, float],
        max_epochs: int,
        space: Optional[Mapping[str, BaseDistribution]] = None,
        policy: str = "bapi",
        policy_options: Optional[Mapping[str, Any]] = None,
        workers: int = 1,
        seed: int = 0,
        storage: Optional[Path] = None,
    ) -> None:
        self._options: Dict[str, Any] = {
            "budget": budget,
            "max_epochs": max_epochs,
            "policy": policy,
            "policy_options": policy_options,
            "workers": workers,
            "seed": seed,
            "storage": storage,
            "checkpoints": False,
        }
        self._lock = threading.Condition()  # notified when a trial has come back
        self._space: Optional[_Space] = None if space is None else _Space(space)
        self._study: Optional[Study] = None
        self._segments: Dict[int, Segment] = {}  # by the number of the Optuna trial
        self._told: Dict[int, int] = {}
        self._threads: Dict[int, int] = {}  # that train them
        self._planned: Set[int] = set()
        self._unplanned: Set[int] = set()  # trials that started before the space was known
        self._failures = 0  # of those, in a row
        self._broken = ""  # why nothing is tried any more; Optuna lets it be raised from the next trial
        self.sampler: BaseSampler = _Sampler(self, seed)
        self.pruner: BasePruner = _Pruner(self)

    @property
    def study(self) -> Optional[Study]:
        """The bapi study; None before the space is known."""
        return self._study

    @property
    def best_params(self) -> Optional[Dict[str, Any]]:
        """Optuna's parameters of the best value that any trial has reported; None before there is one."""
        best = None if self._study is None else self._study.status()["best"]
        return None if best is None or self._space is None else self._space.params(best["config"])

    def _begin(self, study: "optuna.Study") -> Study:
        if self._study is None:
            if self._space is None:
                raise InvalidInput("the space is not known yet")
            if len(study.directions) != 1:
                raise InvalidInput("bapi optimizes one objective; the study has several")
            goal = "maximize" if study.direction == optuna.study.StudyDirection.MAXIMIZE else "minimize"
            self._study = Study(space=self._space.domains(), goal=goal, **self._options)
        return self._study

    def _ask(self, study: "optuna.Study", trial: FrozenTrial) -> Dict[str, Any]:
        with self._lock:
            if self._broken:
                with contextlib.suppress(RuntimeError):  # outside of `optimize` there is nothing to be ended
                    study.stop()
                raise TooManyFailures(self._broken)
            if self._space is None:
                self._unplanned.add(trial.number)
                return {}
            own = self._begin(study)
            # None while trials of other threads have to come back first.
            while (segment := own.ask()) is None and not own.finished and self._others_train():
                self._lock.wait()
            if segment is None:
                return {}
            self._threads[trial.number] = threading.get_ident()
            self._planned.add(trial.number)
            self._segments[trial.number] = segment
            self._told[trial.number] = 0
            return self._space.params(segment.config)

    def _others_train(self) -> bool:
        return any(thread != threading.get_ident() for thread in self._threads.values())

    def _tell(self, trial: FrozenTrial) -> bool:
        """Passes on what the trial has reported since; whether it is to end."""
        with self._lock:
            segment = self._segments.get(trial.number)
            if segment is None:
                return self._study is not None and self._study.finished and trial.number not in self._unplanned
            for value in _curve(trial)[self._told[trial.number] :]:
                if segment.advice != "continue":
                    break
                self._told[trial.number] += 1
                segment.report(self._told[trial.number], value)
            full = self._told[trial.number] >= segment.max_epochs  # a run to the end is complete, not pruned
            return segment.advice != "continue" and not full

    def _close(
        self, study: "optuna.Study", trial: FrozenTrial, state: TrialState, values: Optional[Sequence[float]]
    ) -> None:
        with self._lock:
            if trial.number in self._unplanned:
                self._unplanned.discard(trial.number)
                self._take_unplanned(study, trial, state, values)
            if trial.number in self._segments:
                self._take_back(trial, state, values)
            self._lock.notify_all()
            if self._study is not None and self._study._core.gave_up():
                self._broken = self._study.reason
            elif self._study is not None and self._study.finished:
                if not self._segments:
                    self._complete_best(study, trial)
                study.stop()

    def _complete_best(self, study: "optuna.Study", last: FrozenTrial) -> None:
        """Optuna looks for the best among completed trials; the plan's best may be one that was pruned."""
        sign = 1.0 if study.direction == optuna.study.StudyDirection.MAXIMIZE else -1.0

        def worth(trial: FrozenTrial) -> float:
            return max((sign * value for value in _curve(trial) if math.isfinite(value)), default=-math.inf)

        ended = [trial for trial in study.get_trials(deepcopy=False) if trial.number != last.number] + [last]
        ours = [trial for trial in ended if trial.number in self._planned]
        best = max(ours, key=worth, default=last)
        complete = [sign * t.value for t in ended if t.state == TrialState.COMPLETE and t.value is not None]
        self._planned.clear()
        if worth(best) <= max(complete, default=-math.inf):
            return
        study.add_trial(
            optuna.trial.create_trial(
                value=sign * worth(best),
                params=best.params,
                distributions=best.distributions,
                intermediate_values=best.intermediate_values,
                user_attrs={**best.user_attrs, "bapi:copy of trial": best.number},
            )
        )

    def _take_unplanned(
        self, study: "optuna.Study", trial: FrozenTrial, state: TrialState, values: Optional[Sequence[float]]
    ) -> None:
        """The first trial that did not fail shows the space."""
        if state == TrialState.FAIL or not trial.distributions:
            self._failures += 1
            if self._failures >= _MAX_FAILURES:
                self._broken = f"{self._failures} trials in a row ended without a value; fix the objective"
            return
        if self._space is None:
            self._space = _Space(trial.distributions)
        self._adopt(study, trial, state, values)

    def _take_back(self, trial: FrozenTrial, state: TrialState, values: Optional[Sequence[float]]) -> None:
        """A trial that was planned has come back."""
        assert self._study is not None
        self._tell(trial)
        segment = self._segments.pop(trial.number)
        del self._threads[trial.number], self._told[trial.number]
        if not trial.intermediate_values and values and segment.advice == "continue":
            segment.report(1, values[0])
        if not self._study._core.is_handed_out(segment.number):
            return
        if state == TrialState.FAIL:
            self._study.fail(segment.number, "the objective raised an exception or returned no number")
        elif state == TrialState.PRUNED:
            self._study.put_back(segment.number, "pruned by the objective")
        else:
            self._study.complete(segment.number)

    def _adopt(
        self, study: "optuna.Study", trial: FrozenTrial, state: TrialState, values: Optional[Sequence[float]]
    ) -> None:
        """A trial that was not planned is part of the study, and paid for."""
        assert self._space is not None
        curve = _curve(trial) or [value for value in (values or [])[:1]]
        config = self._space.config(trial.params)
        if not curve or config is None:
            return
        own = self._begin(study)
        longest = own._about["max_epochs"]
        if len(curve) > longest:
            raise InvalidInput(f"the objective has reported {len(curve)} steps, but max_epochs is {longest}")
        unit = own._about["unit"]
        if unit == "epochs":
            left = int(own.status()["budget"]["total"] - own.spent)
            curve, state = curve[:left], state if len(curve) <= left else TrialState.PRUNED
            if not curve:
                return
        seconds = trial.datetime_start is not None and unit == "s"
        total = (trial.duration.total_seconds() if trial.duration else _age(trial)) if seconds else float(len(curve))
        end = "paused" if state == TrialState.PRUNED else "completed"
        own.add_trial(config, curve, [total / len(curve)] * len(curve), end)


def _age(trial: FrozenTrial) -> float:
    import datetime

    assert trial.datetime_start is not None
    return (datetime.datetime.now(trial.datetime_start.tzinfo) - trial.datetime_start).total_seconds()


class _Sampler(BaseSampler):
    def __init__(self, planner: Planner, seed: int) -> None:
        self._planner = planner
        self._random = RandomSampler(seed=seed)
        self._asked: Dict[int, Dict[str, Any]] = {}

    def infer_relative_search_space(self, study: "optuna.Study", trial: FrozenTrial) -> Dict[str, BaseDistribution]:
        params = self._planner._ask(study, trial)
        self._asked[trial.number] = params
        space = self._planner._space
        return {name: space.distributions[name] for name in params} if space is not None else {}

    def sample_relative(
        self, study: "optuna.Study", trial: FrozenTrial, search_space: Dict[str, BaseDistribution]
    ) -> Dict[str, Any]:
        return self._asked.pop(trial.number, {})

    def sample_independent(
        self, study: "optuna.Study", trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self, study: "optuna.Study", trial: FrozenTrial, state: TrialState, values: Optional[Sequence[float]]
    ) -> None:
        self._planner._close(study, trial, state, values)


class _Pruner(BasePruner):
    def __init__(self, planner: Planner) -> None:
        self._planner = planner

    def prune(self, study: "optuna.Study", trial: FrozenTrial) -> bool:
        return self._planner._tell(trial)


def import_study(storage: Any, name: Optional[str] = None, *, to: Path) -> Study:
    """Converts an Optuna study, given by its storage URL, into a bapi study in the directory `to`; steps become epochs.

    All commands work on the result, `bapi plan` and `bapi simulate` included. Trials without a value are left out, and
    so are those that lack a parameter of the others.
    """
    root, _ = study_root(to)
    if root is not None and pathlib.Path(root).exists():
        raise InvalidInput(f"{root}: exists already; import to another name")
    source = optuna.load_study(study_name=name, storage=storage)
    trials = [trial for trial in source.get_trials(deepcopy=False) if trial.state.is_finished() and _curve(trial)]
    if not trials:
        raise InvalidInput(f"{source.study_name}: no trial has a value")
    shared = optuna.search_space.intersection_search_space(trials, include_pruned=True)
    if not shared:
        raise InvalidInput(f"{source.study_name}: its trials have no parameter in common")
    space = _Space(shared)
    goal = "maximize" if source.direction == optuna.study.StudyDirection.MAXIMIZE else "minimize"
    total = sum(len(_curve(trial)) for trial in trials)
    longest = max(len(_curve(trial)) for trial in trials)
    study = Study(
        space=space.domains(), budget=f"{total} epochs", max_epochs=longest, goal=goal, storage=to, policy="random"
    )
    for trial in trials:
        config = space.config(trial.params)
        finite = [value for value in _curve(trial) if value == value and abs(value) != float("inf")]
        if config is None or not finite:
            continue
        state = "paused" if trial.state == TrialState.PRUNED and len(finite) < longest else "completed"
        study.add_trial(config, finite, state=state)
    study._core.finish("imported from Optuna")
    study.close()
    return study


_STATES = {"completed": TrialState.COMPLETE, "failed": TrialState.FAIL}


def export_study(study: Union[Study, Path], storage: Any, name: Optional[str] = None) -> "optuna.Study":
    """Writes a bapi study to an Optuna storage ("sqlite:///mlp.db"), which optuna-dashboard opens.

    Completed trials become COMPLETE, failed ones FAIL, all others PRUNED; epochs become steps. The trial with the best
    value is always COMPLETE, so that Optuna finds the same best trial.
    """
    source = study if isinstance(study, Study) else open_study(study)
    target = optuna.create_study(study_name=name or source.name, storage=storage, direction=source._about["goal"])
    distributions = {param["name"]: _distribution(param) for param in source._core.space()}
    best = max if source._about["goal"] == "maximize" else min
    found = source.status()["best"]
    leader = None if found is None else found["trial"]
    for trial in source.trials:
        state = TrialState.COMPLETE if trial.number == leader else _STATES.get(trial.state, TrialState.PRUNED)
        target.add_trial(
            optuna.trial.create_trial(
                state=state,
                value=best(trial.values) if trial.values and state == TrialState.COMPLETE else None,
                params=trial.config,
                distributions={key: distributions[key] for key in trial.config},
                intermediate_values=dict(zip(trial.reported, trial.values)),
                user_attrs={"bapi:trial": trial.number, "bapi:state": trial.state, "bapi:spent": trial.spent},
            )
        )
    return target


def _distribution(param: Mapping[str, Any]) -> BaseDistribution:
    if param["kind"] == "float":
        return FloatDistribution(param["low"], param["high"], log=param["log"])
    if param["kind"] == "int":
        return IntDistribution(param["low"], param["high"], log=param["log"])
    return CategoricalDistribution(param["options"] if param["kind"] == "choice" else [param["value"]])
