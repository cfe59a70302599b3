#!/usr/bin/env python3
"""capture_live.py [options] -- COMMAND...: runs a command on a terminal of a given size and captures its screen.

The screen after --at seconds goes to --out as an SVG picture, or as plain text to standard output. With --every, the
picture is animated: the screen every so many seconds until --at or the end of the command, --faster times as fast. The
pictures of the live view in docs/images are made with it, from the root of the source tree:

  tools/capture_live.py --columns 80 --rows 20 --at 20 --out docs/images/live-80.svg -- \\
      build/release/bapi run examples/mlp/study.yaml --dir build/capture
  tools/capture_live.py --columns 100 --rows 28 --at 90 --every 1 --faster 4 --out docs/images/live.svg -- \\
      build/release/bapi run examples/mlp/study.yaml --dir build/capture

Only what bapi draws is understood: colours, cursor up, erase line, erase below.
"""

import argparse
import fcntl
import html
import os
import pathlib
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

SEQUENCE = re.compile(r"\x1b\[\??(\d*)([A-Za-z])")
LAST_SECONDS = 4  # the last screen of an animation stays
COLORS = {"": "#d4d4d4", "1": "#ffffff", "2": "#8c8c8c", "31": "#f28b82", "32": "#8fd694", "36": "#6cc7de"}
CELL_WIDTH, LINE_HEIGHT, MARGIN = 8.4, 18, 12


class Screen:
    """Lines of (character, colour) cells, as far as bapi draws them. Longer lines are wrapped after so many columns."""

    def __init__(self, columns=1000):
        self.columns = columns
        self.lines = [[]]
        self.row = self.column = 0
        self.color = ""

    def feed(self, text):
        at = 0
        while at < len(text):
            sequence = SEQUENCE.match(text, at)
            if sequence:
                self.obey(*sequence.groups())
                at = sequence.end()
            else:
                self.write(text[at])
                at += 1

    def obey(self, number, letter):
        if letter == "A":
            self.row = max(0, self.row - int(number or 1))
        elif letter == "K":
            del self.lines[self.row][self.column :]
        elif letter == "J":
            del self.lines[self.row][self.column :]
            del self.lines[self.row + 1 :]
        elif letter == "m":
            self.color = "" if number in ("", "0") else number

    def write(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row += 1
            if self.row == len(self.lines):
                self.lines.append([])
        else:
            if self.column == self.columns:
                self.write("\r")
                self.write("\n")
            line = self.lines[self.row]
            line += [(" ", "")] * (self.column - len(line))
            line[self.column : self.column + 1] = [(character, self.color)]
            self.column += 1

    def text(self):
        return "\n".join("".join(character for character, _ in line).rstrip() for line in self.lines).rstrip() + "\n"


def runs_of(line):
    """(column, text, colour) of neighbours with one colour."""
    runs = []
    for column, (character, color) in enumerate(line):
        if runs and runs[-1][2] == color:
            runs[-1][1] += character
        else:
            runs.append([column, character, color])
    return runs


def line_svg(line, row):
    """The elements of a line of the screen."""
    out = []
    y = MARGIN + row * LINE_HEIGHT + 14
    for column, text, color in runs_of(line):
        if not text.strip():
            continue
        indent = len(text) - len(text.lstrip())
        text = text.strip()
        x, length = MARGIN + (column + indent) * CELL_WIDTH, len(text) * CELL_WIDTH
        weight = ' font-weight="bold"' if color == "1" else ""
        out.append(
            f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs" '
            f'xml:space="preserve" fill="{COLORS[color]}"{weight}>{html.escape(text)}</text>'
        )
    return out


def spans_of(frames, row):
    """(line, first frame, frame after the last) of a row, for each time that its line stays the same."""
    spans = []
    for at, lines in enumerate(frames):
        line = lines[row] if row < len(lines) else []
        if spans and spans[-1][0] == line:
            spans[-1][2] = at + 1
        else:
            spans.append([line, at, at + 1])
    return spans


def motion_of(first, end, count, seconds):
    """The style of what is shown from frame `first` until frame `end` of `count`, which take so many seconds."""
    a, b = 100 * first / count, 100 * end / count
    steps = [f"{a:.3f}% {{ visibility: visible }}"]
    if first > 0:
        steps.insert(0, "0% { visibility: hidden }")
    if end < count:
        steps.append(f"{b:.3f}% {{ visibility: hidden }}")
    name = f"f{first}-{end}"
    return f"@keyframes {name} {{ {' '.join(steps)} }} .{name} {{ animation: {name} {seconds:g}s step-end infinite; }}"


def svg_of(frames, columns, frame_seconds=0.0):
    """A picture of the lines of screens: of one, or of several one after the other. What asks for no motion gets the last."""
    frames = [screen.lines[: len(screen.text().splitlines())] for screen in frames]
    rows, count = max(map(len, frames)), len(frames)
    width, height = columns * CELL_WIDTH + 2 * MARGIN, rows * LINE_HEIGHT + 2 * MARGIN
    motions, out = {}, []
    for row in range(rows):
        for line, first, end in spans_of(frames, row):
            elements = line_svg(line, row)
            if first == 0 and end == count:
                out += elements
            elif elements:
                motions[first, end] = motion_of(first, end, count, count * frame_seconds)
                last = "" if end == count else " early"
                out += [f'<g class="f{first}-{end}{last}">', *elements, "</g>"]
    still = "@media (prefers-reduced-motion: reduce) { g { animation: none !important } .early { visibility: hidden } }"
    style = ["<style>", *motions.values(), still, "</style>"] if motions else []
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" font-family="monospace" font-size="14" role="img">',
        f"<title>bapi run on a terminal with {columns} columns</title>",
        *style,
        '<rect width="100%" height="100%" rx="6" fill="#1e1e1e"/>',
        *out,
        "</svg>",
    ]) + "\n"


def output_of(terminal, seconds):
    """(seconds since the call, text) of what appears on the terminal within so many, or until the command has ended."""
    begin = time.monotonic()
    while (left := begin + seconds - time.monotonic()) > 0 and select.select([terminal], [], [], left)[0]:
        try:
            yield time.monotonic() - begin, os.read(terminal, 65536)
        except OSError:  # the command is gone
            return


def whole_frames(text):
    """Frames of the live view are marked; one that was being read when the time was over is left out."""
    begin, end = text.rfind("\x1b[?2026h"), text.rfind("\x1b[?2026l")
    return text[:begin] if begin > end else text


def screens_of(command, columns, rows, seconds, every=None):
    """The screens of the command, every so many seconds or once at the end of them; the command is interrupted then."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.environ.pop("NO_COLOR", None)
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    told, cuts = b"", []
    for at, part in output_of(terminal, seconds):
        while every and at >= every * (len(cuts) + 1):
            cuts.append(len(told))
        told += part
    os.kill(process, signal.SIGINT)
    for _ in output_of(terminal, 30):
        pass
    os.waitpid(process, 0)
    screens = []
    for cut in [*cuts, len(told)]:
        screens.append(Screen(columns))
        screens[-1].feed(whole_frames(told[:cut].decode("utf-8", "replace")))
    return screens


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=80)
    parser.add_argument("--rows", type=int, default=24)
    parser.add_argument("--at", type=float, default=10.0, help="seconds until the screen is captured")
    parser.add_argument("--every", type=float, help="seconds between the screens of an animation; default: one screen")
    parser.add_argument("--faster", type=float, default=1.0, help="how many times faster the animation is")
    parser.add_argument("--out", help="SVG file; default: text to standard output")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    screens = screens_of(given.command, given.columns, given.rows, given.at, given.every)
    screens = [screen for screen in screens if screen.text().strip()]
    if given.out:
        frame_seconds = (given.every or 0.0) / given.faster
        if given.every:
            screens += screens[-1:] * round(LAST_SECONDS / frame_seconds)
        pathlib.Path(given.out).write_text(svg_of(screens, given.columns, frame_seconds), encoding="utf-8")
    else:
        sys.stdout.write(screens[-1].text())


if __name__ == "__main__":
    main()
