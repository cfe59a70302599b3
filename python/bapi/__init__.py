"""bapi: finds the best model a fixed training budget can buy.

`tune` runs a training function under a budget, and `work` helps with it on other machines; `Study` is ask and tell for your own loop; `report`, `config` and
`checkpoint_dir` are for training scripts started by `bapi run`.
"""

from . import _import_check as _import_check  # before what loads the engine
from ._callbacks import CallbackWarning, Notice
from ._cluster import work
from ._core import Error, InvalidInput, LogicError, StoreError, policies
from ._core import version as __version__
from ._models import Comparison, Course, LearningCurveModel, compare, simulate
from ._script import checkpoint_dir, config, ready, report, started_by_bapi
from ._segment import Segment
from ._space import Choice, Float, Int
from ._study import Best, DamagedStudyWarning, NoResult, Plan, Study, Trial, open_study
from ._tables import Picture, Table
from ._tune import TooManyFailures, TrainingFailed, tune

__all__ = [
    "Best",
    "CallbackWarning",
    "Choice",
    "Comparison",
    "Course",
    "DamagedStudyWarning",
    "Error",
    "Float",
    "Int",
    "InvalidInput",
    "LearningCurveModel",
    "LogicError",
    "NoResult",
    "Notice",
    "Picture",
    "Plan",
    "Segment",
    "StoreError",
    "Study",
    "Table",
    "TooManyFailures",
    "TrainingFailed",
    "Trial",
    "__version__",
    "checkpoint_dir",
    "compare",
    "config",
    "open_study",
    "policies",
    "ready",
    "report",
    "simulate",
    "started_by_bapi",
    "tune",
    "work",
]
