"""Spaces: what can be said, and what is refused."""

import re

import pytest

import bapi


def ask(space, **options):
    return bapi.Study(space=space, budget="1000 epochs", max_epochs=3, policy="random", **options)


def test_values_have_the_types_of_their_domains():
    study = ask({"lr": bapi.Float(1e-3, 1, log=True), "units": bapi.Int(1, 8), "opt": ["sgd", "adam"], "seed": 7})
    config = study.ask().config
    assert 1e-3 <= config["lr"] <= 1 and isinstance(config["lr"], float)
    assert config["units"] in range(1, 9) and isinstance(config["units"], int)
    assert config["opt"] in ("sgd", "adam")
    assert config["seed"] == 7


def test_choices_keep_their_types():
    study = ask({"flag": [True, False], "size": [32, 64, 128], "rate": (0.1, 0.5, 0.9)})
    config = study.ask().config
    assert isinstance(config["flag"], bool)
    assert config["size"] in (32, 64, 128) and isinstance(config["size"], int)
    assert config["rate"] in (0.1, 0.5, 0.9)


def test_a_conditional_parameter_appears_only_where_it_applies():
    space = {"opt": ["sgd", "adam"], "momentum": bapi.Float(0, 0.9, when={"opt": "sgd"})}
    study = ask(space)
    seen = set()
    for _ in range(40):
        segment = study.ask()
        assert ("momentum" in segment.config) == (segment.config["opt"] == "sgd")
        seen.add(segment.config["opt"])
        segment.report(1, 0.5)
        study.complete(segment.number)
    assert seen == {"sgd", "adam"}


@pytest.mark.parametrize(
    "space, message",
    [
        ({}, "parameter"),
        ({"x": bapi.Float(1, 0)}, "x"),
        ({"x": bapi.Float(0, 1, log=True)}, "x"),
        ({"x": bapi.Int(0.5, 3)}, "whole number"),
        ({"x": []}, "x"),
        ({"x": [object()]}, "space.x"),
        ({"x": bapi.Float(0, 1, when={"y": 1})}, "y"),
        ({"x": bapi.Float(0, 1, when="y")}, "space.x.when"),
        ({"bad name": bapi.Float(0, 1)}, "bad name"),
        ({7: bapi.Float(0, 1)}, "the name 7"),
        ({"x": bapi.Int(0, 2**70)}, "64 bits"),
        ({"x": {"min": 0, "max": 1}}, "expected bapi.Float"),
        ({"x": bapi.Float}, "expected bapi.Float"),
        ([bapi.Float(0, 1)], "expected a dict"),
        ({"x": (1e-5, 0.1)}, r"write bapi.Float\(1e-05, 0.1\) for the range or the list \[1e-05, 0.1\]"),
        ({"x": (16, 256)}, r"space.x: found \(16, 256\), which may be a range or two values; write bapi.Int\(16, 256\)"),
    ],
)
def test_what_is_wrong_with_a_space_is_said(space, message):
    with pytest.raises(bapi.InvalidInput, match=message):
        ask(space)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"max_epochs": 2.5}, "max_epochs: found 2.5, expected a whole number"),
        ({"max_epochs": "ten"}, "max_epochs: found 'ten'"),
        ({"workers": "two"}, "workers: found 'two'"),
        ({"seed": -1}, "seed"),
        ({"budget": None}, "budget"),
        ({"storage": ""}, "storage"),
        ({"storage": "sqlite:///mlp.db"}, "storage"),
    ],
)
def test_what_is_wrong_with_an_argument_is_said(wrong, message):
    with pytest.raises(bapi.InvalidInput, match=message):
        bapi.Study(**{"space": {"x": bapi.Float(0, 1)}, "budget": "10 epochs", "max_epochs": 3, **wrong})


def test_pairs_that_cannot_be_ranges_are_choices():
    config = ask({"flag": (True, False), "opt": ("sgd", "adam"), "n": [16, 256]}).ask().config
    assert config["flag"] in (True, False) and config["opt"] in ("sgd", "adam") and config["n"] in (16, 256)


@pytest.mark.parametrize(
    "arguments, goal",
    [
        ({}, "maximize"),
        ({"goal": "min"}, "minimize"),
        ({"goal": "max"}, "maximize"),
        ({"direction": "minimize"}, "minimize"),
        ({"goal": "min", "direction": "minimize"}, "minimize"),
    ],
)
def test_goal_and_direction_say_what_is_better(arguments, goal):
    study = ask({"x": bapi.Float(0, 1)}, **arguments)
    segment = study.ask()
    for epoch, value in enumerate((0.3, 0.1, 0.2), start=1):
        segment.report(epoch, value)
    assert study.best.value == (0.3 if goal == "maximize" else 0.1)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"goal": "win"}, "goal: found 'win', expected \"maximize\" or \"minimize\""),
        ({"direction": "down"}, "direction: found 'down'"),
        ({"goal": "max", "direction": "minimize"}, "give one"),
    ],
)
def test_a_goal_that_cannot_be_meant_is_refused(arguments, message):
    with pytest.raises(bapi.InvalidInput, match=message):
        ask({"x": bapi.Float(0, 1)}, **arguments)


def test_distributions_of_scipy_are_ranges():
    stats = pytest.importorskip("scipy.stats")
    study = ask({"lr": stats.loguniform(1e-4, 1), "p": stats.uniform(0.25, 0.5), "n": stats.randint(2, 5)})
    by_name = {param["name"]: param for param in study._core.space()}
    config = study.ask().config
    assert 1e-4 <= config["lr"] <= 1 and 0.25 <= config["p"] <= 0.75 and config["n"] in (2, 3, 4)
    assert set(by_name) == {"lr", "p", "n"}
    with pytest.raises(bapi.InvalidInput, match="space.x: found scipy's norm, expected uniform, loguniform or randint"):
        ask({"x": stats.norm(0, 1)})


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"worker": 2}, "unexpected argument 'worker'; did you mean 'workers'?"),
        ({"env": {"A": "1"}}, "unexpected argument 'env'"),  # of training programs
        ({"epochs": 3}, "unexpected argument 'epochs'"),  # max_epochs and min_epochs say it
    ],
)
def test_an_argument_that_is_no_field_of_a_study_is_a_type_error(wrong, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        bapi.Study(space={"x": bapi.Float(0, 1)}, budget="10 epochs", max_epochs=3, **wrong)


def test_durations_are_numbers_of_any_kind_or_text():
    numpy = pytest.importorskip("numpy")
    for deadline in (90, 90.0, "90s", "1m30s", numpy.float32(90), numpy.int64(90)):
        bapi.Study(space={"x": bapi.Float(0, 1)}, budget="10 epochs", max_epochs=3, deadline=deadline, grace=1e-5)
    with pytest.raises(bapi.InvalidInput, match="^deadline: found .*expected a duration"):
        bapi.Study(space={"x": bapi.Float(0, 1)}, budget="10 epochs", max_epochs=3, deadline=-1)


def test_ranges_and_arrays_are_choices():
    numpy = pytest.importorskip("numpy")
    config = ask({"n": range(3), "size": numpy.array([32, 64]), "flag": numpy.bool_(True)}).ask().config
    assert config["n"] in (0, 1, 2) and config["size"] in (32, 64) and config["flag"] is True


def test_wrong_input_is_a_value_error():
    assert issubclass(bapi.InvalidInput, ValueError)
    assert issubclass(bapi.StoreError, OSError)
    assert issubclass(bapi.LogicError, RuntimeError)
    for wrong in [{"budget": "30 lightyears ago"}, {"goal": "win"}, {"policy": "hypreband"}, {"max_epochs": 0}]:
        options = {"budget": "10 epochs", "max_epochs": 3, **wrong}
        with pytest.raises(ValueError):
            bapi.Study(space={"x": bapi.Float(0, 1)}, **options)


def test_a_misspelt_policy_names_the_nearest():
    with pytest.raises(bapi.InvalidInput, match="hyperband"):
        ask_with = {"budget": "10 epochs", "max_epochs": 3, "policy": "hypreband"}
        bapi.Study(space={"x": bapi.Float(0, 1)}, **ask_with)
