"""scikit-learn: a search over the parameters of an estimator that learns step by step."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Union

import numpy
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .._core import InvalidInput
from .._segment import Segment
from .._space import Space
from .._tune import tune


def _best_has(name: str) -> Any:
    def check(search: "BudgetSearchCV") -> bool:
        return hasattr(getattr(search, "best_estimator_", search.estimator), name)

    return check


class BudgetSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Tunes the parameters of `estimator` under a budget, epoch by epoch, and refits the best configuration.

    An epoch is one `partial_fit` over the training part of every fold, or, for estimators with `warm_start`, `step`
    more units of `resource` ("max_iter" or "n_estimators"; optional if the estimator has only one of them). The value of
    an epoch is the mean score over the folds. Models of paused configurations are kept in memory.

    space: as in `bapi.tune`, by the names of the estimator's parameters; scipy's uniform, loguniform and randint as for
        RandomizedSearchCV. The values of a list may be of any kind, for example `hidden_layer_sizes`: [(32,), (64, 64)].
    budget: "30s", "500 epochs"; includes the scoring.
    n_jobs: number of folds to train at the same time, in threads; -1: one per processor.
    After `fit`: best_params_, best_score_, best_epoch_, best_estimator_ (if refit), cv_results_, study_.
    """

    def __init__(
        self,
        estimator: Any,
        space: Space,
        *,
        budget: Union[str, float],
        max_epochs: int,
        cv: Any = 3,
        scoring: Any = None,
        refit: bool = True,
        resource: Optional[str] = None,
        step: int = 1,
        policy: str = "bapi",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
        progress: Optional[bool] = False,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.budget = budget
        self.max_epochs = max_epochs
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.resource = resource
        self.step = step
        self.policy = policy
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> "BudgetSearchCV":
        """Runs the search."""
        for name in self.space:
            if name not in self.estimator.get_params():
                raise InvalidInput(f"space: {type(self.estimator).__name__} has no parameter {name}")
        choices = _Choices(self.space)
        learner = _Learner(self.estimator, self.resource, self.step, fit_params)
        scorer = check_scoring(self.estimator, scoring=self.scoring)
        X, y = indexable(X, y)
        folds = list(check_cv(self.cv, y, classifier=is_classifier(self.estimator)).split(X, y))
        classes = numpy.unique(y) if y is not None and is_classifier(self.estimator) else None
        models: Dict[int, List[Any]] = {}

        def fold_score(model: Any, epoch: int, fitted: Any, held_out: Any) -> float:
            learner.train_epoch(model, epoch, _rows(X, fitted), _rows(y, fitted), classes)
            return float(scorer(model, _rows(X, held_out), _rows(y, held_out)))

        def train(trial: Segment) -> None:
            if trial.number not in models:
                models[trial.number] = [learner.make(choices.values(trial.config)) for _ in folds]
            for epoch in trial.epochs():
                scores = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                    delayed(fold_score)(model, epoch, *fold) for model, fold in zip(models[trial.number], folds)
                )
                trial.report(epoch, float(numpy.mean(scores)))
            if trial.advice == "stop":
                models.pop(trial.number, None)

        self.study_ = tune(
            train,
            space=choices.space,
            budget=self.budget,
            max_epochs=self.max_epochs,
            metric="score",
            policy=self.policy,
            seed=self.random_state,
            progress=self.progress,
        )
        best = self.study_.best
        self.best_params_, self.best_score_, self.best_epoch_ = choices.values(best.config), best.value, best.epoch
        self.cv_results_ = self._results(choices)
        if classes is not None:
            self.classes_ = classes
        if self.refit:
            self.best_estimator_ = learner.make(self.best_params_)
            for epoch in range(1, best.epoch + 1):
                learner.train_epoch(self.best_estimator_, epoch, X, y, classes)
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(self.best_estimator_, name):
                    setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def _results(self, choices: "_Choices") -> Dict[str, List[Any]]:
        trials = [trial for trial in self.study_.trials if trial.values]
        scores = [max(trial.values) for trial in trials]
        params = [choices.values(trial.config) for trial in trials]
        names = dict.fromkeys(name for values in params for name in values)
        return {
            "params": params,
            **{f"param_{name}": [values.get(name) for values in params] for name in names},
            "mean_test_score": scores,
            "rank_test_score": [1 + sum(other > score for other in scores) for score in scores],
            "epochs": [trial.epochs for trial in trials],
            "state": [trial.state for trial in trials],
        }

    @available_if(_best_has("predict"))
    def predict(self, X: Any) -> Any:
        """What the best estimator predicts."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """The probabilities that the best estimator predicts."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    @available_if(_best_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """The decision function of the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(X)

    def score(self, X: Any, y: Any = None) -> float:
        """The score of the best estimator, by `scoring`."""
        check_is_fitted(self, "best_estimator_")
        return float(check_scoring(self.best_estimator_, scoring=self.scoring)(self.best_estimator_, X, y))


def _rows(data: Any, chosen: Any) -> Any:
    """Rows of an array, a sparse matrix or a data frame, which stays one."""
    return None if data is None else _safe_indexing(data, chosen)


class _Choices:
    """A space whose lists may hold any values: those that a study cannot keep stand in it as their text."""

    PLAIN = (str, bool, int, float, type(None), numpy.generic)

    def __init__(self, space: Space) -> None:
        self.space: Dict[str, Any] = dict(space)
        self._meant: Dict[str, Dict[str, Any]] = {}
        for name, values in space.items():
            if not isinstance(values, list) or all(isinstance(value, self.PLAIN) for value in values):
                continue
            self._meant[name] = {repr(value): value for value in values}
            self.space[name] = list(self._meant[name])

    def values(self, config: Mapping[str, Any]) -> Dict[str, Any]:
        """A configuration with the values that were meant."""
        return {name: self._meant[name][value] if name in self._meant else value for name, value in config.items()}


class _Learner:
    """How an estimator is trained by one epoch."""

    RESOURCES = ("n_estimators", "max_iter")

    def __init__(self, estimator: Any, resource: Optional[str], step: int, fit_params: Dict[str, Any]) -> None:
        self._estimator = estimator
        self._step = step
        self._fit_params = fit_params
        known = estimator.get_params()
        self._resource: Optional[str] = resource
        if resource is None and not hasattr(estimator, "partial_fit"):
            found = [name for name in self.RESOURCES if name in known]
            if "warm_start" not in known or len(found) != 1:
                raise InvalidInput(
                    f"{type(estimator).__name__} has no partial_fit, and no warm_start with one of "
                    f"{', '.join(self.RESOURCES)}; name its resource"
                )
            self._resource = found[0]
        if self._resource is not None and self._resource not in known:
            raise InvalidInput(f"{type(estimator).__name__} has no parameter {self._resource}")

    def make(self, config: Dict[str, Any]) -> Any:
        model = clone(self._estimator).set_params(**config)
        return model if self._resource is None else model.set_params(warm_start=True)

    def train_epoch(self, model: Any, epoch: int, X: Any, y: Any, classes: Any) -> None:
        if self._resource is None:
            more: Dict[str, Any] = dict(self._fit_params)
            if classes is not None:
                more["classes"] = classes
            model.partial_fit(X, y, **more)
            return
        model.set_params(**{self._resource: self._amount(epoch)})
        model.fit(X, y, **self._fit_params)

    def _amount(self, epoch: int) -> int:
        """Trees add up; iterations are those of one call, which continues where the last one ended."""
        return epoch * self._step if self._resource == "n_estimators" else self._step
