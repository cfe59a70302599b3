"""Panels of the best value against seconds, as one SVG."""

import math
import statistics

from replay import EXPERIMENTS
from statements import EIGHT

COLOURS = ("#D55E00", "#009E73", "#0072B2", "#CC79A7", "#56B4E9", "#7A7A7A", "#E69F00", "#3B3B3B")
WIDTH, HEIGHT = 250, 170      # of a panel's plot
LEFT, TOP, GAP_X, GAP_Y = 64, 62, 72, 62
COLUMNS = 3
STEPS = 60
FIRST_SHARE = 0.05            # before it, most methods have trained one configuration
SCALE_SHARE = 0.35            # the values after it set the scale, so that differences at the end can be seen


def mean_and_error(values):
    return statistics.fmean(values), (statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0)


def curves_of(replay, experiment, budget):
    """{method: [(seconds, mean, standard error)]} of the best value so far."""
    curves = {}
    for method in EIGHT:
        runs = replay.of(experiment, method, budget)
        points = []
        for step in range(STEPS + 1):
            share = FIRST_SHARE + (1 - FIRST_SHARE) * step / STEPS
            values = [replay.tables[run.table].value(run.regret_at(share)) for run in runs]
            seconds = statistics.fmean(replay.tables[run.table].seconds for run in runs)
            points.append((share * int(budget.removesuffix("full")) * seconds, *mean_and_error(values)))
        curves[method] = points
    return curves


def ticks(low, high, count=5):
    """Round numbers within the interval."""
    step = 10 ** math.floor(math.log10((high - low) / count))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= count)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def panel(curves, title, metric, x0, y0):
    every = [point for points in curves.values() for point in points]
    seconds = max(point[0] for point in every)
    scaling = [point for point in every if point[0] >= SCALE_SHARE * seconds]
    low, high = min(p[1] - p[2] for p in scaling), max(p[1] + p[2] for p in scaling)
    margin = 0.04 * (high - low) or 0.01
    low, high = low - margin, high + margin

    def x(second):
        return x0 + WIDTH * second / seconds

    def y(value):
        return y0 + HEIGHT * (high - value) / (high - low)

    lines = [f'<text x="{x0}" y="{y0 - 8}" font-weight="bold">{title}</text>']
    for tick in ticks(low, high):
        lines.append(f'<path d="M{x0} {y(tick):.1f}h{WIDTH}" stroke="#ddd"/>'
                     f'<text x="{x0 - 5}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:.4g}</text>')
    for tick in ticks(0, seconds):
        lines.append(f'<text x="{x(tick):.1f}" y="{y0 + HEIGHT + 15}" text-anchor="middle">{tick:.4g}</text>')
    lines.append(f'<text x="{x0 + WIDTH}" y="{y0 + HEIGHT + 29}" text-anchor="end">seconds</text>')
    lines.append(f'<text transform="translate({x0 - 44} {y0 + HEIGHT / 2}) rotate(-90)" text-anchor="middle">{metric}</text>')
    lines.append(f'<rect x="{x0}" y="{y0}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>')
    clip = f"panel{x0}-{y0}"
    lines.append(f'<clipPath id="{clip}"><rect x="{x0}" y="{y0}" width="{WIDTH}" height="{HEIGHT}"/></clipPath>'
                 f'<g clip-path="url(#{clip})">')
    for method, colour in reversed(list(zip(EIGHT, COLOURS))):   # the first method on top
        points = curves[method]
        upper = [f"{x(s):.1f} {y(m + e):.1f}" for s, m, e in points]
        lower = [f"{x(s):.1f} {y(m - e):.1f}" for s, m, e in reversed(points)]
        middle = [f"{x(s):.1f} {y(m):.1f}" for s, m, _ in points]
        lines.append(f'<path d="M{"L".join(upper + lower)}Z" fill="{colour}" fill-opacity="0.13"/>')
        lines.append(f'<path d="M{"L".join(middle)}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
    return [*lines, "</g>"]


def draw(replay, budget):
    names = replay.experiments(EIGHT, budget)
    rows = math.ceil(len(names) / COLUMNS)
    width, height = LEFT + COLUMNS * (WIDTH + GAP_X), TOP + rows * (HEIGHT + GAP_Y)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
             f'height="{height}" font-family="sans-serif" font-size="11">',
             '<rect width="100%" height="100%" fill="white"/>']
    for k, (method, colour) in enumerate(zip(EIGHT, COLOURS)):
        at = LEFT + k * 112
        lines.append(f'<path d="M{at} 18h22" stroke="{colour}" stroke-width="3"/>'
                     f'<text x="{at + 27}" y="22">{method}</text>')
    for k, name in enumerate(names):
        at = LEFT + k % COLUMNS * (WIDTH + GAP_X), TOP + k // COLUMNS * (HEIGHT + GAP_Y)
        lines += panel(curves_of(replay, name, budget), EXPERIMENTS[name], replay.metric(name), *at)
    return "\n".join([*lines, "</svg>", ""])
