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

    def test_links_lead_to_files(self):
        for page in PAGES:
            for target in LINK.findall(CODE.sub("", page.read_text())):
                if "://" not in target:
                    with self.subTest(page=page.name, target=target):
                        self.assertTrue((page.parent / target).exists())


if __name__ == "__main__":
    unittest.main()
