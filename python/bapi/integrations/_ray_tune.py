"""The searcher and the scheduler of `bapi.integrations.ray.planner`.

Ray Tune trains and keeps the checkpoints; the study of bapi decides. The study's log is the only state: it knows Ray's
id of every trial, so that both are opened again after a crash.
"""

from __future__ import annotations

import collections
import json
import warnings
from typing import Any, Deque, Dict, Mapping, Optional, Set, Tuple, Union

import ray
from ray.tune import search
from ray.tune.experiment import Trial
from ray.tune.schedulers import TrialScheduler
from ray.tune.search import sample
from ray.tune.search.variant_generator import parse_spec_vars

from .._core import InvalidInput
from .._segment import Segment
from .._space import Choice, Domain, Float, Int
from .._study import Budget, Path, Study

_GRID = 1000  # a stepped range of at most so many values is a choice
_FOREVER = 10**9  # more samples than any study has: num_samples=-1


class _Space:
    """Ray Tune's domains as a space of bapi, and values to and fro."""

    def __init__(self, param_space: Mapping[str, Any]) -> None:
        _, domains, grids = parse_spec_vars(dict(param_space))
        if grids:
            raise InvalidInput(
                f"{'/'.join(map(str, grids[0][0]))}: found tune.grid_search; expected a range or tune.choice, from "
                "which the planner chooses"
            )
        self._domains: Dict[str, Tuple[Tuple[Any, ...], sample.Domain]] = {
            "/".join(map(str, path)): (path, domain) for path, domain in domains
        }
        if not self._domains:
            raise InvalidInput("param_space: nothing to tune; expected for example {'lr': tune.loguniform(1e-5, 1)}")

    def domains(self) -> Dict[str, Domain]:
        return {name: _domain(name, domain) for name, (_, domain) in self._domains.items()}

    def config(self, values: Mapping[str, Any]) -> Dict[str, Any]:
        """Values of bapi as Ray nests them."""
        config: Dict[str, Any] = {}
        for name, (path, domain) in self._domains.items():
            inside = config
            for key in path[:-1]:
                inside = inside.setdefault(key, {})
            inside[path[-1]] = _value(domain, values[name])
        return config


def _domain(name: str, domain: sample.Domain) -> Domain:
    sampler, step = domain.get_sampler(), None
    if isinstance(sampler, sample.Quantized):
        sampler, step = sampler.sampler, sampler.q
    log = isinstance(sampler, sample.LogUniform)
    if isinstance(domain, sample.Categorical):
        return Choice(list(range(len(domain.categories))) if not _is_plain(domain) else list(domain.categories))
    if not isinstance(domain, (sample.Float, sample.Integer)) or not (log or isinstance(sampler, sample.Uniform)):
        raise InvalidInput(
            f"{name}: found {type(domain).__name__} with {type(sampler).__name__}; expected uniform, loguniform, "
            "randint, lograndint, their quantized forms or choice: bapi searches between bounds"
        )
    whole = isinstance(domain, sample.Integer)
    high = domain.upper - 1 if whole and step is None else domain.upper  # Ray leaves the last one out, unless it steps
    if step is not None and (high - domain.lower) / step <= _GRID:
        count = int((high - domain.lower) / step + 1e-9) + 1
        return Choice([domain.lower + i * step for i in range(count)], ordered=True)
    return Int(domain.lower, high, log=log) if whole else Float(domain.lower, high, log=log)


def _is_plain(domain: sample.Categorical) -> bool:
    """Whether the options themselves can be in a log; others are numbered."""
    return all(isinstance(option, (bool, int, float, str)) for option in domain.categories)


def _value(domain: sample.Domain, value: Any) -> Any:
    if isinstance(domain, sample.Categorical):
        return value if _is_plain(domain) else domain.categories[value]
    return domain.cast(value)


class Planner:
    """A searcher and a scheduler for Ray Tune that share one plan under one budget.

    budget, policy, seed, deadline, storage and `more`: as in `bapi.tune`. With `storage`, `bapi status` shows the study
    and `Tuner.restore` continues it.
    max_epochs: the length of a full training.
    epoch: the name under which the training function reports the number of its epoch: 1, 2, 3, ..., and after a pause
        the one that follows its checkpoint. Ray's own `training_iteration` is not used.
    cost: the name under which it reports what the epoch cost, for budgets in a unit of your own.
    workers: trials at a time; by default `max_concurrent_trials`, or else the number of the cluster's processors.
    metric, mode: as in `tune.TuneConfig`, if they are not given there.

    The scheduler pauses a trial at the end of its segment and lets Ray resume it when it is chosen again, from the
    checkpoint of its last report. `tune.TuneConfig` needs both, `search_alg` and `scheduler`, and num_samples=-1: the
    budget ends the search. Nothing that the training function does after `tune.report` is certain to happen. Time in
    which a trial waits for resources costs nothing.

    An exception fails its trial. Trials whose node was lost are put back if Ray may retry them:
    `tune.FailureConfig(max_failures=...)`.
    """

    def __init__(
        self,
        *,
        budget: Budget,
        max_epochs: int,
        storage: Optional[Path] = None,
        epoch: str = "epoch",
        cost: Optional[str] = None,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        workers: Optional[int] = None,
        policy: str = "bapi",
        policy_options: Optional[Mapping[str, Any]] = None,
        seed: int = 0,
        deadline: Optional[Budget] = None,
        **more: Any,
    ) -> None:
        self._options: Dict[str, Any] = {
            "budget": budget,
            "max_epochs": max_epochs,
            "storage": storage,
            "policy": policy,
            "policy_options": policy_options,
            "seed": seed,
            "deadline": deadline,
            **more,
        }
        self._epoch = epoch
        self._cost = cost
        self._metric = metric
        self._mode = mode
        self._workers = workers
        self._space: Optional[_Space] = None
        self._restored = False  # from Ray's copy on disk
        self._forget()
        self.searcher: search.Searcher = _Searcher(self)
        self.scheduler: TrialScheduler = _Scheduler(self)

    def _forget(self) -> None:
        """Everything that a process of its own learns again."""
        self._study: Optional[Study] = None
        self._numbers: Dict[str, int] = {}  # of trials, by Ray's id
        self._trials: Dict[int, Trial] = {}  # of Ray, by our number
        self._told: Dict[str, int] = {}  # the last epoch that was told, by Ray's id
        self._fresh: Deque[Segment] = collections.deque()  # to be trained, without a trial of Ray
        self._wanted: Deque[int] = collections.deque()  # to be resumed by Ray
        self._waiting: Set[int] = set()  # for a place on the cluster
        self._ended = False

    def __getstate__(self) -> Dict[str, Any]:
        """For Ray's copy of its settings on disk: the log has the rest."""
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        copied._forget()
        return dict(copied.__dict__)

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._restored = True

    @property
    def study(self) -> Optional[Study]:
        """The study of bapi behind it; None before Ray Tune has started."""
        return self._study

    def close(self) -> None:
        """Lets other processes continue the study. Not necessary once it has finished."""
        if self._study is not None:
            self._study.close()

    # ---- what Ray's searcher is asked

    def _prepare(
        self, metric: Optional[str], mode: Optional[str], config: Mapping[str, Any], spec: Mapping[str, Any]
    ) -> None:
        if not self._restored and spec.get("num_samples", _FOREVER) < _FOREVER:  # Ray remembers that itself
            raise InvalidInput(
                f"num_samples: found {spec['num_samples']}; expected tune.TuneConfig(num_samples=-1): the budget ends "
                "the search"
            )
        self._metric = metric or self._metric
        self._mode = mode or self._mode
        if self._metric is None or self._mode is None:
            raise InvalidInput('metric and mode: not given; expected tune.TuneConfig(metric="accuracy", mode="max")')
        self._space = _Space(config)

    def _open(self) -> Study:
        if self._study is None:
            if self._space is None:
                raise InvalidInput(
                    "param_space: not given; expected for example "
                    "tune.Tuner(train, param_space={'lr': tune.loguniform(1e-5, 1)}, ...)"
                )
            workers = self._workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
            self._study = Study(
                space=self._space.domains(),
                goal=self._mode,
                metric=self._metric or "value",
                workers=workers,
                **self._options,
            )
            self._numbers = self._study._core.trial_names()
        return self._study

    def _over(self) -> bool:
        """Whether nothing will be handed out any more, and everything has come back. Then the study is closed."""
        study = self._open()
        if not self._ended and (study.finished or study.paused) and not any(map(self._is_out, self._numbers.values())):
            self._ended = True
            if study._core.gave_up():
                warnings.warn(f"bapi: {study.reason}", stacklevel=2)
            study.close()
        return self._ended

    def _is_out(self, number: int) -> bool:
        core = self._open()._core
        return core.driving and core.is_handed_out(number)

    def _ask(self) -> None:
        """Takes the next segment, unless one is to be started already."""
        if self._fresh or self._wanted or self._over():
            return
        segment = self._open().ask()
        if segment is not None:
            self._wait_for_place(segment.number)
            self._have_it_trained(segment)

    def _wait_for_place(self, number: int) -> None:
        self._open()._core.wait_for_place(number)
        self._waiting.add(number)

    def _have_it_trained(self, segment: Segment) -> None:
        trial = self._trials.get(segment.number)
        if trial is None or trial.status in (Trial.TERMINATED, Trial.ERROR):
            self._fresh.append(segment)  # new, or Ray has lost it: then it begins anew, and pays for that
        else:
            self._wanted.append(segment.number)

    def _suggest(self, ray_id: str) -> Union[Dict[str, Any], str, None]:
        self._ask()
        if not self._fresh:
            return search.Searcher.FINISHED if self._over() else None
        segment = self._fresh.popleft()
        assert self._space is not None
        self._open()._core.name_trial(segment.number, ray_id)
        self._numbers[ray_id] = segment.number
        return self._space.config(segment.config)

    # ---- what Ray's scheduler is asked and told

    def _number(self, trial: Trial) -> int:
        number = self._numbers.get(trial.trial_id)
        if number is None:
            raise InvalidInput(
                f"Ray's trial {trial.trial_id} is not in the study {self._open().name}; give both, planner.searcher "
                "and planner.scheduler, to tune.TuneConfig, and to continue a search the storage that it began with"
            )
        return number

    def _add(self, trial: Trial) -> None:
        self._open()
        number = self._number(trial)
        self._trials[number] = trial
        # Ray starts whatever is pending. What it has restored waits until it is chosen.
        if trial.status == Trial.PENDING and not self._is_out(number) and not self._over():
            trial.set_status(Trial.PAUSED)

    def _choose(self, controller: Any) -> Optional[Trial]:
        self._look()
        if self._over():
            self._stop_what_is_left(controller)
            return None
        self._ask()
        for number in self._wanted:
            return self._trials[number]
        pending = (trial for trial in controller.get_trials() if trial.status == Trial.PENDING)
        return next(pending, None)

    def _look(self) -> None:
        """What has started to run since."""
        core = self._open()._core
        for number in list(self._waiting):
            trial = self._trials.get(number)
            if not self._is_out(number):
                self._waiting.discard(number)
            elif trial is not None and trial.status == Trial.RUNNING:
                core.placed(number)
                self._waiting.discard(number)
        while self._wanted and self._wanted[0] not in self._waiting:
            self._wanted.popleft()

    @staticmethod
    def _stop_what_is_left(controller: Any) -> None:
        for trial in list(controller.get_trials()):
            if trial.status in (Trial.PAUSED, Trial.PENDING):
                controller.stop_trial(trial)

    def _take(self, trial: Trial, result: Mapping[str, Any]) -> str:
        number = self._number(trial)
        if not self._is_out(number):
            return TrialScheduler.STOP if self._over() else TrialScheduler.PAUSE
        advice = self._report(trial, number, result)
        return {"continue": TrialScheduler.CONTINUE, "pause": TrialScheduler.PAUSE}.get(advice, TrialScheduler.STOP)

    def _report(self, trial: Trial, number: int, result: Mapping[str, Any]) -> str:
        if number in self._waiting:
            self._open()._core.placed(number)
            self._waiting.discard(number)
        epoch = _reported(result, self._epoch, "the number of the epoch, 1, 2, 3, ...")
        if epoch != int(epoch):
            raise InvalidInput(f"{self._epoch}: found {epoch}, expected a whole number")
        value = _reported(result, self._metric or "value", "the value to be tuned")
        cost = None if self._cost is None else _reported(result, self._cost, "what the epoch cost")
        advice, _ = self._open().report(number, int(epoch), value, cost)
        self._told[trial.trial_id] = int(epoch)
        return advice

    def _is_told(self, trial: Trial, result: Mapping[str, Any]) -> bool:
        return self._epoch not in result or result[self._epoch] == self._told.get(trial.trial_id)

    def _complete(self, trial: Trial, result: Mapping[str, Any]) -> None:
        """Ended by itself, by a rule of the user's, or because the scheduler said so."""
        number = self._number(trial)
        if self._is_out(number) and not self._is_told(trial, result):
            self._report(trial, number, result)
        if self._is_out(number):
            self._open().complete(number)
        self._over()

    def _fail(self, trial: Trial) -> None:
        number = self._number(trial)
        if not self._is_out(number):
            return
        study = self._open()
        if not trial.should_recover():
            study.fail(number, _failure(trial))
            self._over()
            return
        # Ray starts it again: it is handed out again, before anything else.
        study.put_back(number, _failure(trial))
        self._waiting.discard(number)
        segment = None if study.finished else study.ask()
        if segment is None:
            return
        self._wait_for_place(segment.number)
        if segment.number != number:  # the user has stopped it meanwhile
            self._have_it_trained(segment)

    def _remove(self, trial: Trial) -> None:
        number = self._number(trial)
        if self._is_out(number):
            self._open().put_back(number, "Ray has removed the trial")


def _reported(result: Mapping[str, Any], name: str, what: str) -> float:
    if name not in result:
        raise InvalidInput(
            f'{name}: not reported; expected {what}, for example tune.report({{"{name}": ...}}, checkpoint=checkpoint)'
        )
    value = result[name]
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name}: found {value!r}, expected a number") from None


def _failure(trial: Trial) -> str:
    """What Ray knows of its failure, in one line."""
    text = ""
    if trial.error_file is not None:
        try:
            with open(trial.error_file, encoding="utf-8", errors="replace") as file:
                lines = [line.strip() for line in file if line.strip()]
            text = lines[-1] if lines else ""
        except OSError:
            pass
    return text or "the trial failed in Ray"


class _Searcher(search.Searcher):
    def __init__(self, planner: Planner) -> None:
        super().__init__(metric=planner._metric, mode=planner._mode)
        self._planner = planner

    def set_search_properties(
        self, metric: Optional[str], mode: Optional[str], config: Dict[str, Any], **spec: Any
    ) -> bool:
        self._planner._prepare(metric, mode, config, spec)
        self._metric, self._mode = self._planner._metric, self._planner._mode
        return True

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """Paused trials do not count; the study keeps the limit."""
        self._planner._workers = max_concurrent
        return True

    def suggest(self, trial_id: str) -> Union[Dict[str, Any], str, None]:
        return self._planner._suggest(trial_id)

    def on_trial_result(self, trial_id: str, result: Dict[str, Any]) -> None:
        if trial_id not in self._planner._told and self._planner._is_out(self._planner._numbers[trial_id]):
            raise InvalidInput(
                "scheduler: not given; expected "
                "tune.TuneConfig(search_alg=planner.searcher, scheduler=planner.scheduler, ...)"
            )

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        """The scheduler knows."""

    def save(self, checkpoint_path: str) -> None:
        """The log has everything; Ray wants a file."""
        study = self._planner.study
        with open(checkpoint_path, "w", encoding="utf-8") as file:
            json.dump({"study": None if study is None or study.path is None else str(study.path)}, file)

    def restore(self, checkpoint_path: str) -> None:
        if self._planner._options["storage"] is None:
            raise InvalidInput("storage: not given; a search whose study is in memory cannot be continued")


class _Scheduler(TrialScheduler):
    _supports_buffered_results = False  # each report is answered before the next epoch is trained

    def __init__(self, planner: Planner) -> None:
        super().__init__()
        self._planner = planner

    def set_search_properties(self, metric: Optional[str], mode: Optional[str], **spec: Any) -> bool:
        return True

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        self._planner._add(trial)

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> str:
        return self._planner._take(trial, result)

    def on_trial_complete(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> None:
        self._planner._complete(trial, result)

    def on_trial_error(self, tune_controller: Any, trial: Trial) -> None:
        self._planner._fail(trial)

    def on_trial_remove(self, tune_controller: Any, trial: Trial) -> None:
        self._planner._remove(trial)

    def choose_trial_to_run(self, tune_controller: Any) -> Optional[Trial]:
        return self._planner._choose(tune_controller)

    def debug_string(self) -> str:
        study = self._planner.study
        return "bapi: no study yet" if study is None else f"bapi: {study._core.spending()} spent"

    def save(self, checkpoint_path: str) -> None:
        """The log has everything."""

    def restore(self, checkpoint_path: str) -> None:
        """The log has everything."""
