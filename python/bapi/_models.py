"""The models and the simulator, without a study."""

from __future__ import annotations

import os
import pathlib
import tempfile
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _core
from ._arguments import number, whole_number
from ._tables import Table

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Course:
    """A predicted learning curve: `mean` at every epoch, and the interval from `low` to `high`."""

    epochs: List[int]
    mean: List[float]
    low: List[float]
    high: List[float]

    def table(self) -> Table:
        """One row per epoch: epoch, mean, low, high."""
        rows = zip(self.epochs, self.mean, self.low, self.high)
        return Table({"epoch": e, "mean": m, "low": a, "high": b} for e, m, a, b in rows)

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _row(values: Any, name: str) -> List[float]:
    if not hasattr(values, "__iter__"):
        raise _core.InvalidInput(f"{name}: found {values!r}, expected a row of numbers")
    return [number(value, name) for value in values]


class LearningCurveModel:
    """The planner's model of learning curves: fit it to the curves of some configurations to predict any other.

    Configurations are rows of numbers, which are scaled to their range; take the logarithm of parameters with a log
    scale. Curves may differ in length. The model takes the best value so far at every epoch, so forecasts never get
    worse with training. A value that is not finite means that the training diverged.

    >>> X = [[0.0], [0.25], [0.5], [0.75], [1.0]]
    >>> curves = [[(1 - (x - 0.4) ** 2) * (1 - 0.8 ** t) for t in range(1, 21)] for [x] in X]
    >>> course = LearningCurveModel().fit(X, curves).predict([0.4], epochs=[5, 20])
    >>> [round(value, 1) for value in course.mean]
    [0.7, 1.0]
    >>> course.low[1] <= course.mean[1] <= course.high[1]
    True
    """

    def __init__(self, *, max_epochs: Optional[int] = None, goal: str = "maximize", seed: int = 0) -> None:
        if goal not in ("maximize", "minimize"):
            raise _core.InvalidInput(f'goal: found "{goal}", expected "maximize" or "minimize"')
        self._max_epochs = max_epochs
        self._goal = goal
        self._seed = seed
        self._model: Optional[_core.CurveModel] = None

    def fit(self, X: Sequence[Sequence[float]], curves: Sequence[Sequence[float]]) -> "LearningCurveModel":
        """Fits the model to one curve for every row of `X`, and returns it."""
        rows = [_row(row, "X") for row in X]
        values = [_row(curve, "curves") for curve in curves]
        self._model = _core.CurveModel(rows, values, self._max_epochs or 0, self._goal == "minimize", self._seed)
        return self

    def predict(self, x: Sequence[float], epochs: Optional[Sequence[int]] = None, level: float = 0.8) -> Course:
        """Predicts the curve at `x`, by default at every epoch, with the central interval of probability `level`.

        A configuration that was among the data is predicted given its own curve.
        """
        model = self._fitted()
        every = range(1, model.max_epoch + 1)
        asked = [whole_number(epoch, "epochs") for epoch in (every if epochs is None else epochs)]
        return Course(asked, **model.predict(_row(x, "x"), asked, number(level, "level")))

    @property
    def log_likelihood(self) -> float:
        """Log marginal likelihood of the (standardised) data."""
        return self._fitted().log_likelihood

    def _fitted(self) -> "_core.CurveModel":
        if self._model is None:
            raise _core.InvalidInput("the model has not been fitted yet")
        return self._model


def _paths(given: Union[None, Path, Sequence[Path]]) -> List[str]:
    return [] if given is None else [os.fspath(path) for path in _one_or_more(given)]


def _one_or_more(given: Any) -> List[Any]:
    return [given] if isinstance(given, (str, int, float, os.PathLike)) else list(given)


def simulate(
    table: Path,
    policy: str = "bapi",
    *,
    budget: Union[str, float] = "20full",
    seed: int = 0,
    workers: int = 1,
    policy_options: Optional[Mapping[str, Any]] = None,
    checkpoints: bool = True,
    warm_start: Union[None, Path, Sequence[Path]] = None,
    warm_start_budget: Union[str, float] = "20full",
) -> Dict[str, Any]:
    """Runs a policy on recorded learning curves in simulated time. Returns what `bapi simulate -f json` prints.

    `table` is a file (NAME.csv, NAME.bin), a study directory, or synthetic curves ("synthetic:crossing,rows=100"). The
    budget is in the table's unit of cost, or "20full": 20 times the mean cost of a full training. Without checkpoints,
    resumed trials restart and are charged from epoch 1. `warm_start` names earlier studies, or tables on which the
    policy bapi is run first with a budget of `warm_start_budget`. `end` in the result says why the simulation ended.

    >>> result = simulate("synthetic:power-law,rows=50,epochs=20", "hyperband", budget="5full", seed=1)
    >>> result["spent"] <= result["budget"], result["trials"] > 5
    (True, True)
    """
    return _core.simulate(
        os.fspath(table),
        policy,
        dict(policy_options or {}),
        str(budget),
        whole_number(seed, "seed"),
        whole_number(workers, "workers"),
        bool(checkpoints),
        _paths(warm_start),
        str(warm_start_budget),
    )


@dataclass(frozen=True)
class Comparison:
    """Result of a comparison: `summary` as `bapi compare -f json` prints it, and the rows behind it."""

    summary: List[Dict[str, Any]]
    runs: Table
    ranks: Table
    curves: Table
    files: List[pathlib.Path]
    """Files written to `out`; empty without it."""

    def __repr__(self) -> str:
        return repr(self.ranks)

    def _repr_html_(self) -> str:
        return self.ranks._repr_html_()


def compare(
    tables: Union[Path, Sequence[Path]],
    policies: Union[str, Sequence[str]],
    *,
    seeds: int = 10,
    first_seed: int = 0,
    budgets: Union[str, float, Sequence[Union[str, float]]] = ("5full", "20full"),
    workers: Union[int, Sequence[int]] = 1,
    draw: int = 1500,
    checkpoints: bool = True,
    charge_overhead: bool = False,
    overhead_from: Optional[Path] = None,
    warm_start: Union[None, Path, Sequence[Path]] = None,
    warm_start_budget: Union[str, float] = "20full",
    jobs: Optional[int] = None,
    out: Optional[Path] = None,
) -> Comparison:
    """Compares policies on recorded learning curves, as `bapi compare` does: ranks, tests, anytime curves.

    `tables` are as for `simulate`, or directories of tables. A policy may have options ("bapi:horizon=8") and a label
    ("far=bapi:horizon=8"). Every argument may be one value or several. `out` is a directory for the results: runs.csv,
    ranks.csv, curves.csv, report.html and its figures; the same call continues there. Seeds count from `first_seed`. `draw` is the number of
    configurations drawn from surrogate networks. Without checkpoints, resumed trials restart and are charged from
    epoch 1. On tables whose cost is in seconds, `charge_overhead` charges decisions the time they take;
    `overhead_from` does so reproducibly, with the times of the comparison in that directory. With `warm_start`, as for
    `simulate`, every policy is compared with its warm start: "bapi" with "bapi+from".

    >>> found = compare("synthetic:power-law,rows=30,epochs=9", ["random", "hyperband"], seeds=2, budgets="4full")
    >>> len(found.runs), sorted(row["policy"] for row in found.ranks)
    (4, ['hyperband', 'random'])
    """
    given = _core.ComparisonInput(
        tables=[os.fspath(table) for table in _one_or_more(tables)],
        policies=_one_or_more(policies),
        from_tables=_paths(warm_start),
        from_budget=str(warm_start_budget),
        seeds=whole_number(seeds, "seeds"),
        first_seed=whole_number(first_seed, "first_seed"),
        budgets=[str(budget) for budget in _one_or_more(budgets)],
        workers=[whole_number(count, "workers") for count in _one_or_more(workers)],
        draw=whole_number(draw, "draw"),
        checkpoints=bool(checkpoints),
        charge_overhead=bool(charge_overhead),
        overhead_from="" if overhead_from is None else os.fspath(overhead_from),
    )
    threads = jobs or os.cpu_count() or 1
    if out is not None:
        return _result(_core.compare(given, threads, os.fspath(out)))
    with tempfile.TemporaryDirectory(prefix="bapi-") as scratch:
        return _result({**_core.compare(given, threads, scratch), "files": []})


def _result(record: Dict[str, Any]) -> Comparison:
    tables = {name: Table(record[name]) for name in ("runs", "ranks", "curves")}
    return Comparison(record["summary"], **tables, files=[pathlib.Path(file) for file in record["files"]])
