#!/usr/bin/env python3
"""Draws the learning curves of a recorded table: curves.py TABLE.csv FIGURE.svg [COUNT]

The first COUNT configurations (40) in the order in which they were recorded, which is random. Those that end best, one
in eight, stand out.
"""

import csv
import pathlib
import sys

from panels import ticks

WIDTH, HEIGHT, LEFT, TOP = 520, 260, 60, 34
BEST_SHARE = 1 / 8


def read_curves(path):
    """Name and goal of the metric, and the values of each configuration."""
    lines = pathlib.Path(path).read_text().splitlines()
    goal = "maximize" if any(line.startswith("# metric:") and "maximize" in line for line in lines) else "minimize"
    rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    names = rows[0]
    epoch, metric = names.index("epoch"), names.index("epoch") + 1
    curves = []
    for row in rows[1:]:
        if row[epoch] == "1":
            curves.append([])
        if row[metric] != "nan":
            curves[-1].append(float(row[metric]))
    return names[metric], goal, [curve for curve in curves if curve]


def draw(metric, goal, curves):
    values = [value for curve in curves for value in curve]
    low, high = min(values), max(values)
    low, high = low - 0.03 * (high - low), high + 0.03 * (high - low)
    epochs = max(len(curve) for curve in curves)
    best = max(1, round(BEST_SHARE * len(curves)))
    best_named = f"the best {best}" if best > 1 else "the best"

    def x(epoch):
        return LEFT + WIDTH * epoch / epochs

    def y(value):
        return TOP + HEIGHT * (high - value) / (high - low)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {TOP + HEIGHT + 42}" '
             f'width="{LEFT + WIDTH + 20}" height="{TOP + HEIGHT + 42}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="{LEFT}" y="20">{metric} of {len(curves)} random configurations; {best_named} in red</text>']
    for tick in ticks(low, high):
        lines.append(f'<path d="M{LEFT} {y(tick):.1f}h{WIDTH}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:.4g}</text>')
    for tick in ticks(0, epochs, 6):
        lines.append(f'<text x="{x(tick):.1f}" y="{TOP + HEIGHT + 17}" text-anchor="middle">{tick:.4g}</text>')
    lines.append(f'<text x="{LEFT + WIDTH}" y="{TOP + HEIGHT + 34}" text-anchor="end">epoch</text>')
    lines.append(f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>')
    for rank, curve in reversed(list(enumerate(sorted(curves, key=lambda c: c[-1], reverse=goal == "maximize")))):
        style = 'stroke="#D55E00" stroke-width="1.8"' if rank < best else 'stroke="#0072B2" stroke-opacity="0.35"'
        points = "L".join(f"{x(epoch):.1f} {y(value):.1f}" for epoch, value in enumerate(curve, 1))
        lines.append(f'<path d="M{points}" fill="none" {style}/>')
    return "\n".join([*lines, "</svg>", ""])


def main(table, figure, count="40"):
    metric, goal, curves = read_curves(table)
    pathlib.Path(figure).write_text(draw(metric, goal, curves[:int(count)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
