#!/usr/bin/env python3
"""tools/bench_docs.py fills every table of docs/benchmarks.md that says it is made of figures, and no other text."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parent.parent.parent
TOOL = ROOT / "tools" / "bench_docs.py"
PAGE = (ROOT / "docs" / "benchmarks.md").read_text()
BLOCK = re.compile(r"<!-- figures: (\w+) -->\n(.*?)\n<!-- end of figures -->", re.DOTALL)

sys.path.insert(0, str(TOOL.parent))
import bench_docs  # noqa: E402


def every_figure(value):
    """All figures that the tables ask for, each with this value."""
    asked = []

    def find(name, n=None):
        asked.append({"name": name, "n": n or 1, "value": value, "unit": "ms", "floor": value / 2.0, "ratio": 2.0})
        return asked[-1]

    list(bench_docs.tables(find))
    return asked


def filled(figures, page=PAGE):
    """(exit code, message, the page after the tool)."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "bench.json", pathlib.Path(folder) / "page.md"
        source.write_text(json.dumps(figures))
        target.write_text(page)
        done = subprocess.run([sys.executable, TOOL, source, target], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr, target.read_text()


class BenchDocs(unittest.TestCase):
    def test_every_marked_table_is_replaced_and_nothing_else(self):
        code, message, page = filled(every_figure(7.25))
        self.assertEqual(code, 0, message)
        self.assertEqual(BLOCK.sub("", page), BLOCK.sub("", PAGE))
        tables = dict(BLOCK.findall(page))
        self.assertEqual(tables.keys(), dict(BLOCK.findall(PAGE)).keys())
        for name, table in tables.items():
            with self.subTest(table=name):
                self.assertIn("7.25", table)
                for line in table.splitlines():
                    self.assertEqual(line.count("|"), table.splitlines()[0].count("|"), line)

    def test_the_tables_keep_their_rows(self):
        labels = lambda page: [line.split("|")[1] for _, table in BLOCK.findall(page) for line in table.splitlines()]
        self.assertEqual(labels(filled(every_figure(7.25))[2]), labels(PAGE))

    def test_a_missing_figure_is_named_and_the_page_stays(self):
        figures = [figure for figure in every_figure(1.0) if figure["name"] != "glasses"]
        code, message, page = filled(figures)
        self.assertEqual(code, 1)
        self.assertIn("no figure 'glasses'", message)
        self.assertEqual(page, PAGE)

    def test_a_missing_mark_is_named(self):
        code, message, _ = filled(every_figure(1.0), PAGE.replace("<!-- figures: store -->", ""))
        self.assertEqual(code, 1)
        self.assertIn("figures: store", message)


if __name__ == "__main__":
    unittest.main()
