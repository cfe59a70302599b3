"""Configurations that the user asks for, other metrics, and callbacks."""

import threading
import warnings

import pytest

import bapi

SPACE = {"lr": bapi.Float(1e-6, 1, log=True), "units": bapi.Int(16, 256), "opt": ["sgd", "adam"]}
LOOP = {"space": SPACE, "budget": "60 epochs", "max_epochs": 9, "policy": "hyperband"}


def train(trial):
    for epoch in trial.epochs():
        trial.report(epoch, epoch * trial.config["lr"], loss=1 / epoch)


def test_tries_are_the_first_trials_and_partial_ones_are_completed():
    study = bapi.tune(train, tries=[{"lr": 0.5, "units": 20, "opt": "adam"}, {"units": 21}], **LOOP)
    assert study.trials[0].config == {"lr": 0.5, "units": 20, "opt": "adam"}
    assert study.trials[1].config["units"] == 21
    assert study.trials[0].why.startswith("requested by the study file")
    assert study.explain(1)[0]["reason"]["wish"]["left_open"] == ["lr", "opt"]


def test_enqueued_configurations_are_the_next_new_trials():
    study = bapi.Study(**LOOP)
    train(study.ask())
    study.enqueue({"units": 33})
    study.enqueue(lr=0.25)
    while (segment := study.ask()) is not None:
        train(segment)
    asked = [trial for trial in study.trials if trial.why.startswith("requested by Python")]
    assert [trial.number for trial in asked] in ([1, 2], [2, 3])  # the trial after the first may have been decided before
    assert asked[0].config["units"] == 33 and asked[1].config["lr"] == 0.25


def test_enqueue_to_a_study_that_another_process_would_drive(tmp_path, program):
    bapi.tune(train, storage=tmp_path / "s.bapi", **LOOP)
    bapi.open_study(tmp_path / "s.bapi").enqueue(units=33)
    assert bapi.open_study(tmp_path / "s.bapi").status()["enqueued"] == 1
    more = bapi.tune(train, storage=tmp_path / "s.bapi", **{**LOOP, "budget": "90 epochs"})
    assert [trial.config["units"] for trial in more.trials].count(33) == 1


def test_what_does_not_fit_is_refused():
    study = bapi.Study(**LOOP)
    with pytest.raises(bapi.InvalidInput, match="units: found 7, expected a whole number from 16 to 256"):
        study.enqueue(units=7)
    with pytest.raises(bapi.InvalidInput, match="there is no parameter unit; did you mean units?"):
        study.enqueue(unit=17)
    with pytest.raises(bapi.InvalidInput, match=r"try\[0\]: opt: found lbfgs"):
        bapi.tune(train, tries=[{"opt": "lbfgs"}], **LOOP)


def test_other_metrics_are_kept(tmp_path):
    study = bapi.tune(train, storage=tmp_path / "s.bapi", **LOOP)
    again = bapi.open_study(tmp_path / "s.bapi")
    for trial in (study.trials[0], again.trials[0]):
        assert trial.metrics == {"loss": [1 / epoch for epoch in trial.reported]}
    rows = again.curves_dataframe()
    row = rows[0] if isinstance(rows, list) else rows.iloc[0]
    assert row["metrics.loss"] == 1.0


def test_a_metric_that_is_not_always_there_has_gaps():
    def sometimes(trial):
        for epoch in trial.epochs():
            trial.report(epoch, 0.5, **({"extra": 7.0} if epoch == 2 else {}))

    study = bapi.tune(sometimes, **{**LOOP, "policy": "random"})
    assert study.trials[0].metrics["extra"] == [None, 7.0] + [None] * 7


WORKERS = """
import bapi
def train(trial):
    for epoch in trial.epochs():
        trial.report(epoch, epoch * trial.config["lr"], loss=1 / epoch)
if __name__ == "__main__":
    told = []
    study = bapi.tune(train, space={"lr": bapi.Float(0.1, 1)}, budget="24 epochs", max_epochs=4, policy="random", workers=2,
                      callbacks={"epoch": lambda notice: told.append(notice.metrics["loss"])})
    print(len(told), study.trials[0].metrics["loss"])
"""


def test_workers_report_other_metrics_and_callbacks_hear_of_them(run_script):
    assert run_script(WORKERS) == "24 [1.0, 0.5, 0.3333333333333333, 0.25]\n"


# ---- callbacks


def test_callbacks_are_told_in_order_and_not_in_this_thread():
    told = []
    threads = set()

    def tell(notice):
        told.append((notice.event, notice.trial, notice.epoch))
        threads.add(threading.get_ident())

    bapi.tune(train, callbacks=dict.fromkeys(("epoch", "best", "trial_end", "study_end"), tell),
              **{**LOOP, "policy": "random", "budget": "18 epochs"})  # fmt: skip
    assert told[:3] == [("epoch", 0, 1), ("best", 0, 1), ("epoch", 0, 2)]
    assert [event for event, _, _ in told].count("epoch") == 18
    assert ("trial_end", 0, 9) in told and told[-1] == ("study_end", None, None)
    assert threads and threading.get_ident() not in threads


def test_an_exception_in_a_callback_is_a_warning_and_harms_nothing():
    def bad(notice):
        raise RuntimeError("the tracker is down")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study = bapi.tune(train, callbacks={"epoch": bad}, **LOOP)
    assert study.state == "finished"
    texts = [str(one.message) for one in caught if one.category is bapi.CallbackWarning]
    assert len(texts) == 1 and "the tracker is down" in texts[0]


def test_an_unknown_event_is_refused():
    with pytest.raises(bapi.InvalidInput, match="callbacks: found 'epochs'; did you mean 'epoch'?"):
        bapi.tune(train, callbacks={"epochs": print}, **LOOP)
    with pytest.raises(bapi.InvalidInput, match="expected a function"):
        bapi.tune(train, callbacks={"best": 3}, **LOOP)
