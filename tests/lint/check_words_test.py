#!/usr/bin/env python3
"""tools/check_words.py finds what it is there to find."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).parent.parent.parent / "tools" / "check_words.py"


def check(files):
    """Runs the check on a tree with these files: (exit code, output)."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class CheckWords(unittest.TestCase):
    def assert_refused(self, name, text, message):
        code, output = check({name: text})
        self.assertEqual(code, 1, output)
        self.assertIn(message, output)

    def assert_passes(self, name, text):
        code, output = check({name: text})
        self.assertEqual(code, 0, output)

    def test_a_page_uses_the_words_of_the_glossary(self):
        for text in ["The study goes on.", "It was Mended.", "Nobody runs it.", "a dearer epoch", "Write beside and rename.",
                     "what is left", "It is no directory.", "Everybody reads it.", "20 full runs",
                     "A paused run waits.", "A run is trained."]:
            self.assert_refused("docs/page.md", f"# Title\n\n{text}\n", "docs/page.md:3: ")
        self.assert_refused("README.md", "It goes\non here. It goes on.\n", "README.md:2: 'goes on'; write: continue")

    def test_other_words_and_code_in_pages_pass(self):
        self.assert_passes("docs/page.md", "`go on` and\n```\nbeside = 1\n```\nThe run ends. Besides, runs are logged.\n"
                                           "What is left out is listed. There is no directory. A recommended way; the full running time.\n")

    def test_help_and_messages_use_them_too(self):
        self.assert_refused("src/bapi/cli/a.cc", '\nconst char* text = "Nothing is lost; run "\n    "again and it goes on";\n',
                            "src/bapi/cli/a.cc:2: 'goes on'")
        self.assert_refused("src/bapi/cli/a.cc", 'auto text = "it goes "\n    "on";\n', "'goes on'")
        self.assert_refused("python/core/a.cc", 'auto text = R"(nobody)";\n', "'nobody'")

    def test_comments_and_names_of_code_pass(self):
        self.assert_passes("src/bapi/cli/a.cc", "// It goes on beside \"this.\nint begun = nobody('\"');  /* mend */\n")

    def test_stored_formats_keep_their_words(self):
        code, output = check({"src/bapi/study/rationale.cc": 'auto rule = "short run";\n', "README.md": "bapi\n"})
        self.assertEqual(code, 0, output)

    def test_python_strings_and_docstrings_use_them_too(self):
        self.assert_refused("python/bapi/a.py", '"""One.\n\nThe study goes on.\n"""\n', "python/bapi/a.py:3: 'goes on'")
        self.assert_refused("python/bapi/a.py", 'text = f"{1} is begun"\n', "python/bapi/a.py:1: 'begun'")
        self.assert_passes("python/bapi/a.py", "beside = begun = 1  # nobody\n")

    def test_nothing_read_is_an_error(self):
        self.assertEqual(check({"other.txt": "goes on"})[0], 1)


if __name__ == "__main__":
    unittest.main()
