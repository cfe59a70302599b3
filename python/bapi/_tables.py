"""Listings and pictures that show themselves in notebooks."""

from __future__ import annotations

import html
import pathlib
from typing import Any, Dict, Iterable, List, Union

from ._segment import config_text


def _cell_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "*" if value else ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return config_text(value)
    return str(value)


def html_table(rows: Iterable[Dict[str, Any]]) -> str:
    """The rows as an HTML table, columns in the order of the first row."""
    rows = list(rows)
    if not rows:
        return "<i>nothing yet</i>"
    head = "".join(f"<th>{html.escape(name)}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_cell_text(row[name]))}</td>" for name in rows[0]) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Table(List[Dict[str, Any]]):
    """A list of dicts, one per row, that shows itself as a table in notebooks.

    >>> Table([{"epoch": 1, "value": 0.5}])._repr_html_()
    '<table><thead><tr><th>epoch</th><th>value</th></tr></thead><tbody><tr><td>1</td><td>0.5</td></tr></tbody></table>'
    """

    def dataframe(self) -> Any:
        """The rows as a pandas DataFrame, configurations spread over columns; the list itself without pandas."""
        flat = Table(_flattened(row) for row in self)
        try:
            import pandas
        except ImportError:
            return flat
        return pandas.DataFrame(list(flat))

    def _repr_html_(self) -> str:
        return html_table(self)


def _flattened(row: Dict[str, Any]) -> Dict[str, Any]:
    flat: Dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat.update({f"{name}.{key}": inner for key, inner in value.items()})
        else:
            flat[name] = value
    return flat


class Picture:
    """An SVG picture. Shows itself in notebooks; `save` writes it to a file."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: Union[str, pathlib.Path]) -> pathlib.Path:
        """Writes the picture and returns its path."""
        target = pathlib.Path(path)
        target.write_text(self.svg, encoding="utf-8")
        return target

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture({len(self.svg)} bytes of SVG; .save(path) writes it)"
