"""Average ranks of the eight methods as critical-difference diagrams (Demšar 2006), as one SVG."""

from panels import COLOURS
from rank_tests import critical_difference
from statements import EIGHT

WIDTH, LEFT, TOP = 480, 150, 58   # of the axis, and where the first one begins
LINE = 17                         # between labels
HEIGHT = 56 + LINE * len(EIGHT) // 2 + 40


def groups(ranks, difference):
    """(first, last) positions of the longest runs of ascending ranks that span less than the difference."""
    found = []
    for first, low in enumerate(ranks):
        last = max(i for i, rank in enumerate(ranks) if rank - low < difference)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def diagram(title, means, difference, y0):
    """means: {method: average rank}; y0: of the axis."""
    def x(rank):
        return LEFT + WIDTH * (rank - 1) / (len(EIGHT) - 1)

    lines = [f'<text x="{LEFT - 130}" y="{y0 - 24}" font-weight="bold">{title}</text>',
             f'<path d="M{x(1):.1f} {y0 - 28}h{x(1 + difference) - x(1):.1f}m0 -4v8M{x(1):.1f} {y0 - 32}v8" stroke="#333" '
             'fill="none"/>',
             f'<text x="{x(1 + difference) + 6:.1f}" y="{y0 - 24}">critical difference {difference:.1f}</text>',
             f'<path d="M{LEFT} {y0}h{WIDTH}" stroke="#333"/>']
    for rank in range(1, len(EIGHT) + 1):
        lines.append(f'<path d="M{x(rank):.1f} {y0}v-5" stroke="#333"/>'
                     f'<text x="{x(rank):.1f}" y="{y0 - 8}" text-anchor="middle">{rank}</text>')
    ordered = sorted(means, key=means.get)
    joined = groups([means[method] for method in ordered], difference)
    first_label = y0 + 22 + 7 * len(joined)
    for place, method in enumerate(ordered):
        is_left = place < len(ordered) / 2
        y = first_label + LINE * (place if is_left else len(ordered) - 1 - place)
        side = LEFT - 10 if is_left else LEFT + WIDTH + 10
        colour = COLOURS[EIGHT.index(method)]
        lines.append(f'<path d="M{x(means[method]):.1f} {y0}V{y}H{side}" stroke="{colour}" stroke-width="1.6" fill="none"/>')
        lines.append(f'<text x="{side - 4 if is_left else side + 4}" y="{y + 4}" text-anchor="{"end" if is_left else "start"}">'
                     f'{method} {means[method]:.1f}</text>')
    for k, (first, last) in enumerate(joined):
        begin, end = x(means[ordered[first]]) - 4, x(means[ordered[last]]) + 4
        lines.append(f'<path d="M{begin:.1f} {y0 + 8 + 7 * k}H{end:.1f}" stroke="#333" stroke-width="4"/>')
    return lines


def draw(diagrams):
    """diagrams: (title, {method: average rank}, number of experiments)."""
    width, height = 2 * LEFT + WIDTH, TOP + len(diagrams) * HEIGHT
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>']
    for k, (title, means, experiments) in enumerate(diagrams):
        lines += diagram(title, means, critical_difference(len(EIGHT), experiments), TOP + k * HEIGHT)
    return "\n".join([*lines, "</svg>", ""])
