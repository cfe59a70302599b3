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
        ({"bad name": bapi.Float(0, 1)}, "bad name"),
    ],
)
def test_what_is_wrong_with_a_space_is_said(space, message):
    with pytest.raises(bapi.InvalidInput, match=message):
        ask(space)


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
