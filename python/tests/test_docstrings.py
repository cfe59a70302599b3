"""The examples in the docstrings do what they say."""

import doctest
import importlib
import pkgutil

import pytest

import bapi

MODULES = [
    info.name
    for info in pkgutil.walk_packages(bapi.__path__, "bapi.")
    if not info.name.startswith("bapi.integrations") and info.name != "bapi._core"
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_everything_public_has_a_docstring():
    for name in bapi.__all__:
        thing = getattr(bapi, name)
        assert name.startswith("__") or thing.__doc__, name
