"""Listings and pictures that show themselves in notebooks."""

from __future__ import annotations

import html
import pathlib
import textwrap
from typing import Any, Dict, Iterable, List, Sequence, Union

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
        return "<i>no rows</i>"
    head = "".join(f"<th>{html.escape(name)}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_cell_text(row[name]))}</td>" for name in rows[0]) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def text_table(rows: Iterable[Dict[str, Any]]) -> str:
    """The rows as lines of text, numbers to the right, columns in the order of the first row."""
    rows = list(rows)
    if not rows:
        return "no rows"
    columns = []
    for name in rows[0]:
        values = [row[name] for row in rows]
        cells = [name, *map(_cell_text, values)]
        width = max(map(len, cells))
        words = any(isinstance(value, (str, dict)) for value in values)
        columns.append([cell.ljust(width) if words else cell.rjust(width) for cell in cells])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns))


class Table(List[Dict[str, Any]]):
    """A list of dicts, one per row, that shows itself as a table, in notebooks and elsewhere.

    >>> Table([{"epoch": 1, "value": 0.5}, {"epoch": 10, "value": 0.8125}])
    epoch   value
        1     0.5
       10  0.8125

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

    def __repr__(self) -> str:
        return text_table(self)

    def _repr_html_(self) -> str:
        return html_table(self)


class Explanations(Table):
    """Decisions with their reasons, which show themselves as paragraphs: a table would be too wide to read.

    >>> Explanations([{"seq": 1, "decision": "start trial 0, train to epoch 1", "because": "Initial design.", "trial": 0}])
    #1 start trial 0, train to epoch 1
        Initial design.
    """

    def __repr__(self) -> str:
        if not self:
            return "no decisions"
        return "\n".join(
            f"#{row['seq']} {row['decision']}"
            + "".join(f"\n    {line}" for line in textwrap.wrap(row["because"] or "", width=96))
            for row in self
        )

    def _repr_html_(self) -> str:
        return html_table({name: row[name] for name in ("trial", "decision", "because")} for row in self)


def _flattened(row: Dict[str, Any]) -> Dict[str, Any]:
    flat: Dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat.update({f"{name}.{key}": inner for key, inner in value.items()})
        else:
            flat[name] = value
    return flat


def curve_svg(values: Sequence[float]) -> str:
    """A small picture of a learning curve, labelled with its extremes."""
    width, height, margin = 320, 90, 8
    low, high = min(values), max(values)
    across = (width - 2 * margin) / max(1, len(values) - 1)
    up = (height - 2 * margin) / (high - low) if high > low else 0.0
    points = [(margin + i * across, height - margin - (value - low) * up) for i, value in enumerate(values)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    end = points[-1]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 70}" height="{height}" font-family="sans-serif" '
        f'font-size="11" fill="#666"><polyline points="{line}" fill="none" stroke="#0072b2" stroke-width="1.5"/>'
        f'<circle cx="{end[0]:.1f}" cy="{end[1]:.1f}" r="3" fill="#0072b2"/>'
        f'<text x="{width + 4}" y="{margin + 4}">{high:.4g}</text>'
        f'<text x="{width + 4}" y="{height - margin + 4}">{low:.4g}</text></svg>'
    )


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
