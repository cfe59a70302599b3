#!/usr/bin/env python3
"""report_figures.py REPORT.html PREFIX: writes the figures over all tables of a comparison's report as pictures.

For every budget and number of workers of the report, in its order: PREFIX-ranks.svg, the critical-difference diagram, and
PREFIX-anytime.svg, regret against the share of the budget, with its legend. Further ones are numbered.
"""

import pathlib
import re
import sys

PAPER = {"--paper": "#ffffff", "--ink": "#1c1c1e", "--muted": "#636366", "--grid": "#e3e3e6", "--best": "#eef6ee"}
FONT = "font-family=\"system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif\""
LINE = 18  # pixels of a line of the legend
COLUMN = 125


def on_paper(svg):
    """Colours and letters do not depend on the page any more."""
    for name, color in PAPER.items():
        svg = svg.replace(f"var({name})", color)
    return svg.replace('font-family="inherit"', FONT)


def with_background(svg):
    return re.sub(r"(<svg[^>]*>)", r'\1<rect width="100%" height="100%" fill="#ffffff"/>', svg, count=1)


def with_legend(svg, items):
    """The legend stands below the figure, in columns."""
    width, height = (int(n) for n in re.search(r'viewBox="0 0 (\d+) (\d+)"', svg).groups())
    columns = max(1, width // COLUMN)
    rows = -(-len(items) // columns)
    whole = height + LINE * rows + 8
    svg = svg.replace(f'height="{height}"', f'height="{whole}"', 1)
    svg = svg.replace(f'viewBox="0 0 {width} {height}"', f'viewBox="0 0 {width} {whole}"', 1)
    marks = []
    for i, (color, dash, name) in enumerate(items):
        x = 10 + COLUMN * (i % columns)
        y = height + LINE * (i // columns) + 8
        marks.append(
            f'<line x1="{x}" y1="{y}" x2="{x + 26}" y2="{y}" stroke="{color}" stroke-width="3" stroke-dasharray="{dash}"/>'
            f'<text x="{x + 32}" y="{y + 4}" font-size="12" fill="{PAPER["--ink"]}">{name}</text>'
        )
    return svg.removesuffix("</svg>") + "".join(marks) + "</svg>"


def legend_of(text):
    pattern = r'<li><svg.*?stroke="([^"]*)" stroke-width="3" stroke-dasharray="([^"]*)"/></svg>(.*?)</li>'
    return re.findall(pattern, text, re.S)


def main(report, prefix):
    text = pathlib.Path(report).read_text().split("<h2>Table by table</h2>")[0]
    sections = re.split(r"(?=<svg[^>]*><title>Critical-difference)", text)[1:]
    for number, section in enumerate(sections):
        suffix = "" if number == 0 else f"-{number + 1}"
        ranks = re.match(r"<svg.*?</svg>", section, re.S).group()
        anytime = re.findall(r"<figure>(<svg xmlns.*?)\s*</figure>", section, re.S)[-1]
        pathlib.Path(f"{prefix}-ranks{suffix}.svg").write_text(with_background(on_paper(ranks)) + "\n")
        pictured = with_legend(with_background(on_paper(anytime)), legend_of(section))
        pathlib.Path(f"{prefix}-anytime{suffix}.svg").write_text(pictured + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
