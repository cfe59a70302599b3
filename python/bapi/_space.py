"""The search space: parameters and their ranges."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Sequence, Tuple, Union

from . import _core

Scalar = Union[bool, int, float, str, None]
Conditions = Mapping[str, Any]


@dataclass(frozen=True)
class Float:
    """A real number from `low` to `high`, both included; with `log`, on a logarithmic scale.

    With `when`, the parameter applies only if other parameters have the given values.

    >>> Float(1e-6, 1, log=True)
    Float(low=1e-06, high=1, log=True, when={})
    >>> Float(0, 0.99, when={"optimizer": "sgd"}).when
    {'optimizer': 'sgd'}
    """

    low: float
    high: float
    log: bool = False
    when: Conditions = field(default_factory=dict)

    def _parts(self) -> Tuple[Any, ...]:
        return ("float", self.low, self.high, self.log, [])


@dataclass(frozen=True)
class Int:
    """An integer from `low` to `high`, both included; with `log`, on a logarithmic scale.

    >>> Int(16, 256)
    Int(low=16, high=256, log=False, when={})
    """

    low: int
    high: int
    log: bool = False
    when: Conditions = field(default_factory=dict)

    def _parts(self) -> Tuple[Any, ...]:
        return ("int", self.low, self.high, self.log, [])


@dataclass(frozen=True)
class Choice:
    """One of several values; a plain list in a space means the same.

    With `ordered`, values next to each other in the list are similar; default: numbers in increasing order are.

    >>> Choice(["sgd", "adam"])
    Choice(options=['sgd', 'adam'], ordered=None, when={})
    """

    options: Sequence[Scalar]
    ordered: Union[bool, None] = None
    when: Conditions = field(default_factory=dict)

    def _parts(self) -> Tuple[Any, ...]:
        kind = "choice" if self.ordered is None else "ordered" if self.ordered else "unordered"
        return (kind, None, None, False, list(self.options))


Domain = Union[Float, Int, Choice, Sequence[Scalar], Scalar]
Space = Mapping[str, Domain]


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _refuse_ambiguous(name: str, domain: Any) -> None:
    """(1e-5, 0.1) is a range to some and two values to others."""
    if isinstance(domain, tuple) and len(domain) == 2 and all(_is_number(value) for value in domain):
        low, high = domain
        kind = "Int" if isinstance(low, numbers.Integral) and isinstance(high, numbers.Integral) else "Float"
        raise _core.InvalidInput(
            f"space.{name}: found {domain!r}, which may be a range or two values; write bapi.{kind}({low!r}, {high!r}) "
            f"for the range or the list [{low!r}, {high!r}] for the two values"
        )


def _from_scipy(name: str, domain: Any) -> Union[Float, Int]:
    """A frozen distribution of scipy.stats between bounds: uniform, loguniform (reciprocal) or randint."""
    kind = domain.dist.name
    if kind not in ("uniform", "loguniform", "reciprocal", "randint"):
        raise _core.InvalidInput(
            f"space.{name}: found scipy's {kind}, expected uniform, loguniform or randint: bapi searches between bounds; "
            "bapi.Float(low, high) has them"
        )
    low, high = domain.support()
    if kind == "randint":
        return Int(int(low), int(high))
    return Float(float(low), float(high), log=kind != "uniform")


def _conditions(name: str, when: Any) -> Dict[str, List[Any]]:
    """The values of other parameters for which a parameter applies."""
    if not isinstance(when, Mapping):
        raise _core.InvalidInput(f'space.{name}.when: found {when!r}, expected a dict like {{"optimizer": "sgd"}}')
    return {
        other: list(values) if isinstance(values, (list, tuple, set)) else [values] for other, values in when.items()
    }


def space_parts(space: Space) -> List[Tuple[Any, ...]]:
    """The space as the engine reads it: (name, kind, low, high, log, options, when) per parameter."""
    if not isinstance(space, Mapping):
        raise _core.InvalidInput(
            f"space: found {space!r}, expected a dict of names and domains, such as {{'lr': bapi.Float(1e-5, 0.1)}}"
        )
    parts: List[Tuple[Any, ...]] = []
    domain: Any
    for name, domain in space.items():
        if not isinstance(name, str):
            raise _core.InvalidInput(f"space: found the name {name!r}, expected text")
        _refuse_ambiguous(name, domain)
        if hasattr(domain, "rvs") and hasattr(domain, "dist"):
            domain = _from_scipy(name, domain)
        if isinstance(domain, (list, tuple, range)) or getattr(domain, "shape", ()) != ():
            domain = Choice(list(domain))
        if isinstance(domain, (Float, Int, Choice)):
            parts.append((name, *domain._parts(), _conditions(name, domain.when)))
        elif domain is None or isinstance(domain, (str, numbers.Number)) or hasattr(domain, "shape"):
            parts.append((name, "constant", domain, None, False, [], {}))
        else:
            raise _core.InvalidInput(
                f"space.{name}: found {domain!r}, expected bapi.Float, bapi.Int, bapi.Choice, a list of values, or a "
                "constant"
            )
    return parts
