"""Tunes scikit-learn's SGDClassifier on the digits data: 300 epochs, an epoch being one pass over the training data.

    python3 examples/python/sgd_digits.py

Run it again after Ctrl-C to continue; `bapi status digits` looks at it meanwhile.
"""

import pickle

import bapi
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split

x, y = load_digits(return_X_y=True)
x_train, x_valid, y_train, y_valid = train_test_split(x / 16, y, test_size=0.3, random_state=0)


def load_or_new(path, config):
    """The model of the checkpoint and the epochs it was trained for, or a new one."""
    if path.exists():
        return pickle.loads(path.read_bytes())
    return SGDClassifier(learning_rate="adaptive", random_state=0, **config), 0


def train(trial):
    path = trial.checkpoint_dir / "model.pickle"
    model, start = load_or_new(path, trial.config)
    for epoch in trial.epochs(start):
        model.partial_fit(x_train, y_train, classes=range(10))
        path.with_suffix(".new").write_bytes(pickle.dumps((model, epoch)))
        path.with_suffix(".new").replace(path)
        trial.report(epoch, model.score(x_valid, y_valid))


if __name__ == "__main__":
    study = bapi.tune(
        train,
        space={
            "alpha": bapi.Float(1e-7, 1, log=True),
            "eta0": bapi.Float(1e-3, 10, log=True),
            "loss": ["hinge", "log_loss", "modified_huber"],
            "penalty": ["l2", "l1"],
        },
        budget="300 epochs",
        max_epochs=30,
        metric="accuracy",
        storage="digits.bapi",
    )
    print(study)
    print(f"accuracy {study.best.value:.4f} with {study.best.config}")
    print(f"model in {study.best.checkpoint}")
