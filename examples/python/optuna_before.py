"""An Optuna script as people write it: SGDClassifier on the digits data, pruned by HyperBand."""

import optuna
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split

optuna.logging.set_verbosity(optuna.logging.WARNING)
x, y = load_digits(return_X_y=True)
x_train, x_valid, y_train, y_valid = train_test_split(x / 16, y, test_size=0.3, random_state=0)


def objective(trial):
    model = SGDClassifier(
        alpha=trial.suggest_float("alpha", 1e-7, 1, log=True),
        eta0=trial.suggest_float("eta0", 1e-3, 10, log=True),
        loss=trial.suggest_categorical("loss", ["hinge", "log_loss", "modified_huber"]),
        learning_rate="adaptive",
        random_state=0,
    )
    accuracy = 0.0
    for step in range(30):
        model.partial_fit(x_train, y_train, classes=range(10))
        accuracy = model.score(x_valid, y_valid)
        trial.report(accuracy, step)
        if trial.should_prune():
            raise optuna.TrialPruned()
    return accuracy


sampler, pruner = optuna.samplers.TPESampler(seed=0), optuna.pruners.HyperbandPruner()
study = optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner)
study.optimize(objective, timeout=20)
print(f"accuracy {study.best_value:.4f} with {study.best_params}")
