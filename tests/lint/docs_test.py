#!/usr/bin/env python3
"""What the documentation shows is what is there: embedded files are equal to the files, links lead somewhere."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])

EMBEDDED = re.compile(r"<!-- file: (\S+) -->\n```\w*\n(.*?)```\n", re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


class Documentation(unittest.TestCase):
    def test_embedded_files_are_equal_to_the_files(self):
        embedded = [(page, *found) for page in PAGES for found in EMBEDDED.findall(page.read_text())]
        self.assertTrue(embedded)
        for page, name, text in embedded:
            with self.subTest(page=page.name, file=name):
                self.assertEqual(text, (ROOT / name).read_text())

    def test_readme_compares_with_the_figures_of_the_benchmarks(self):
        names = {"bapi": "bapi", "Hyperband": "hyperband", "ASHA": "asha", "BOHB": "bohb",
                 "Bayesian optimisation (EI)": "ei", "random search": "random"}  # fmt: skip
        readme, page = ((ROOT / name).read_text() for name in ("README.md", "docs/benchmarks.md"))
        header, _, *rows = re.search(r"^\| budget, in full trainings.*?\n\n", readme, re.DOTALL | re.MULTILINE)[0].splitlines()
        columns = [name.strip() for name in header.split("|")[2:-1]]
        self.assertEqual(columns, list(names))
        self.assertGreater(len([row for row in rows if row]), 2)
        for row in filter(None, rows):
            budget, *shown = (cell.strip(" *") for cell in row.split("|")[1:-1])
            table = page[page.index(f"**{budget} full trainings, one worker, ten seeds**"):]
            for name, figure in zip(columns, shown):
                regret = float(re.search(rf"^\| `{names[name]}` \| [^|]+ \| ([\d.]+) ±", table, re.MULTILINE)[1])
                rounding = 0.5 * 10.0 ** -len(figure.partition(".")[2])
                with self.subTest(budget=budget, policy=name):
                    self.assertLess(abs(float(figure) - regret), rounding + 0.0005)  # the table is rounded as well

    def test_links_lead_to_files(self):
        for page in PAGES:
            for target in LINK.findall(CODE.sub("", page.read_text())):
                if "://" not in target:
                    with self.subTest(page=page.name, target=target):
                        self.assertTrue((page.parent / target).exists())


if __name__ == "__main__":
    unittest.main()
