"""bapi with other libraries. Each module needs the library that it is named after.

`optuna`: a sampler and a pruner that share one planner, import and export of studies. `keras`, `lightning`, `xgboost`,
`lightgbm`: callbacks that report to a trial. `sklearn`: `BudgetSearchCV`. `ray`: workers of `bapi.tune` on a Ray
cluster, and a searcher and a scheduler for Ray Tune.
"""
