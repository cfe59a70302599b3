"""Tunes scikit-learn's SGDClassifier on the digits data in two Ray actors: 300 epochs.

    python3 examples/python/ray_digits.py

It uses the Ray cluster of RAY_ADDRESS, or starts Ray on this machine. Run it again after Ctrl-C to continue.
"""

import pickle

import bapi
from bapi.integrations.ray import executor
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split


def train(trial):
    x, y = load_digits(return_X_y=True)
    x_train, x_valid, y_train, y_valid = train_test_split(x / 16, y, test_size=0.3, random_state=0)
    path = trial.checkpoint_dir / "model.pickle"
    model, start = SGDClassifier(learning_rate="adaptive", random_state=0, **trial.config), 0
    if path.exists():
        model, start = pickle.loads(path.read_bytes())
    for epoch in trial.epochs(start):
        model.partial_fit(x_train, y_train, classes=range(10))
        path.with_suffix(".new").write_bytes(pickle.dumps((model, epoch)))
        path.with_suffix(".new").replace(path)
        trial.report(epoch, model.score(x_valid, y_valid))


if __name__ == "__main__":
    study = bapi.tune(
        train,
        space={"alpha": bapi.Float(1e-7, 1, log=True), "eta0": bapi.Float(1e-3, 10, log=True)},
        budget="300 epochs",
        max_epochs=30,
        metric="accuracy",
        workers=2,
        storage="digits.bapi",  # on a cluster: in a directory that all nodes share
        executor=executor(num_cpus=1),
    )
    print(f"accuracy {study.best.value:.4f} with {study.best.config}")
