"""Ray Tune with bapi's planner: scikit-learn's SGDClassifier on the digits data, 300 epochs.

    python3 examples/python/ray_tune_digits.py
"""

import pathlib
import pickle
import tempfile

from bapi.integrations.ray import planner
from ray import tune
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split

EPOCHS = 30


def train(config):
    x, y = load_digits(return_X_y=True)
    x_train, x_valid, y_train, y_valid = train_test_split(x / 16, y, test_size=0.3, random_state=0)
    model, start = SGDClassifier(learning_rate="adaptive", random_state=0, **config), 0
    checkpoint = tune.get_checkpoint()
    if checkpoint is not None:  # the trial was paused, and is continued
        with checkpoint.as_directory() as folder:
            model, start = pickle.loads(pathlib.Path(folder, "model.pickle").read_bytes())
    for epoch in range(start + 1, EPOCHS + 1):
        model.partial_fit(x_train, y_train, classes=range(10))
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "model.pickle").write_bytes(pickle.dumps((model, epoch)))
            tune.report(
                {"accuracy": model.score(x_valid, y_valid), "epoch": epoch},
                checkpoint=tune.Checkpoint.from_directory(folder),
            )


if __name__ == "__main__":
    plan = planner(budget="300 epochs", max_epochs=EPOCHS, storage="digits.bapi")
    tuner = tune.Tuner(
        train,
        param_space={"alpha": tune.loguniform(1e-7, 1), "eta0": tune.loguniform(1e-3, 10)},
        tune_config=tune.TuneConfig(
            search_alg=plan.searcher,
            scheduler=plan.scheduler,
            metric="accuracy",
            mode="max",
            num_samples=-1,
            max_concurrent_trials=2,
        ),
    )
    tuner.fit()
    print(f"accuracy {plan.study.best.value:.4f} with {plan.study.best.config}")
