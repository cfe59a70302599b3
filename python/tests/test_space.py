"""Spaces: what can be said, and what is refused."""

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
    study = ask({"flag": [True, False], "size": [32, 64, 128], "rate": (0.1, 0.5)})
    config = study.ask().config
    assert isinstance(config["flag"], bool)
    assert config["size"] in (32, 64, 128) and isinstance(config["size"], int)
    assert config["rate"] in (0.1, 0.5)


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
        ({"workers": None}, "workers: found None"),
        ({"seed": -1}, "seed"),
        ({"budget": None}, "budget"),
        ({"storage": ""}, "storage"),
        ({"storage": "sqlite:///mlp.db"}, "storage"),
    ],
)
def test_what_is_wrong_with_an_argument_is_said(wrong, message):
    with pytest.raises(bapi.InvalidInput, match=message):
        bapi.Study(**{"space": {"x": bapi.Float(0, 1)}, "budget": "10 epochs", "max_epochs": 3, **wrong})


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
