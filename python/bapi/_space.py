"""What may be tuned: parameters and their ranges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Sequence, Tuple, Union

Scalar = Union[bool, int, float, str, None]
Conditions = Mapping[str, Any]


@dataclass(frozen=True)
class Float:
    """A real number between `low` and `high`, both included; with `log`, every order of magnitude counts the same.

    With `when`, the parameter applies only where others have certain values.

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
    """A whole number between `low` and `high`, both included.

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
    """One of several values. Ordered ones are neighbours of each other; None: increasing numbers are ordered.

    A plain list or tuple in a space means the same.

    >>> Choice(["sgd", "adam"])
    Choice(options=['sgd', 'adam'], ordered=None, when={})
    """

    options: Sequence[Scalar]
    ordered: Union[bool, None] = None
    when: Conditions = field(default_factory=dict)

    def _parts(self) -> Tuple[Any, ...]:
        kind = {None: "choice", True: "ordered", False: "unordered"}[self.ordered]
        return (kind, None, None, False, list(self.options))


Domain = Union[Float, Int, Choice, Sequence[Scalar], Scalar]
Space = Mapping[str, Domain]


def _as_list(values: Any) -> List[Any]:
    return list(values) if isinstance(values, (list, tuple, set)) else [values]


def space_parts(space: Space) -> List[Tuple[Any, ...]]:
    """The space as the engine wants it: (name, kind, low, high, log, options, when) per parameter."""
    parts: List[Tuple[Any, ...]] = []
    for name, domain in space.items():
        if isinstance(domain, (list, tuple)):
            domain = Choice(domain)
        if isinstance(domain, (Float, Int, Choice)):
            when: Dict[str, List[Any]] = {other: _as_list(values) for other, values in domain.when.items()}
            parts.append((name, *domain._parts(), when))
        else:
            parts.append((name, "constant", domain, None, False, [], {}))
    return parts
