#!/usr/bin/env python3
"""Checks the words that users read; `tools/check_words.py [ROOT]`.

Reads the pages (README, docs, CHANGELOG, ...), the texts of the program (every string of src/bapi and python/core: help
and messages) and those of the Python package (strings and docstrings). Fails on a word for which the glossary has
another one. Code in pages (fences and backticks) is not read, nor are the words of stored formats.
"""

import ast
import pathlib
import re
import sys

# What is not written, and what is written instead. A trial is a configuration being trained; a run is the command or a
# process.
GLOSSARY = {
    r"(?:go|goes|going|gone|went) on": "continue",
    r"mend(?:s|ed|ing)?": "fix",
    r"begun": "started",
    r"nobody": "no one, or say who does not",
    r"whoever": "say who",
    r"dear(?:er|est)?": "expensive",
    r"beside": "next to",
    r"let(?:s|ting)? go": "end, release",
    r"in its turn": "then",
    r"at hand": "available",
    r"(?:what|budget|epochs?|trials?|nothing) (?:is|are) left(?!\s+(?:out|to\s+chance))": "remaining",
    r"anew": "again, from the start",
    r"(?<!there )is no (?:regular|directory|study|JSON|UTF-8|integer|number|text|instant|file|failure)": "is not a ...",
    r"(?:every|any|some)body": "everyone, anyone, or say who",
    r"asked for by": "requested by",
    r"can(?:not)? be looked at": "can be read, shown, accessed",
    r"storey": "layer",
    r"(?:full|complete)[ -]runs?": "full training",
    r"(?:short|initial|paused|finished|unfinished|stopped|resumed|new|failed|bad|flat) runs?": "trial",
    r"runs? (?:is|are|was|were) (?:trained|paused|resumed|stopped|looked at)": "trial",
    r"Of all random choices|What (?:decides|can decide)": "say what the value is",
}
PATTERNS = [(re.compile(rf"\b(?:{words})\b", re.IGNORECASE), instead) for words, instead in GLOSSARY.items()]

# Texts of logs that version 0.1 wrote, and names in stored formats.
STORED = {"src/bapi/study/rationale.cc", "src/bapi/study/reason.h"}

CODE_IN_PAGES = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
COMMENTS_AND_STRINGS = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((.*?)\)\1"|"((?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])\'',
                                  re.DOTALL)


def line_at(text, position):
    return text.count("\n", 0, position) + 1


def texts_of_page(text):
    """(line, text): everything but code, which is blanked out."""
    yield 1, CODE_IN_PAGES.sub(lambda code: re.sub(r"[^\n]", " ", code.group()), text)


def texts_of_cpp(text):
    """(line, text) of every string; strings that stand next to each other are one."""
    line, joined, end = 0, None, 0
    for found in COMMENTS_AND_STRINGS.finditer(text):
        if found.group(2) is None and found.group(3) is None:
            continue
        part = (found.group(2) or found.group(3) or "").replace("\\n", " ")
        if joined is not None and not text[end:found.start()].strip():
            joined += part
        else:
            if joined is not None:
                yield line, joined
            line, joined = line_at(text, found.start()), part
        end = found.end()
    if joined is not None:
        yield line, joined


def texts_of_python(text):
    """(line, text) of every string, the parts of f-strings and docstrings among them."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, CODE_IN_PAGES.sub(lambda code: re.sub(r"[^\n]", " ", code.group()), node.value)


def sources(root):
    """(path, how its texts are found)."""
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "experiments/**/*.md"):
        yield from ((path, texts_of_page) for path in sorted(root.glob(pattern)))
    for folder in ("src/bapi", "python/core"):
        files = sorted(path for path in (root / folder).rglob("*") if path.suffix in (".h", ".cc"))
        yield from ((path, texts_of_cpp) for path in files)
    yield from ((path, texts_of_python) for path in sorted((root / "python" / "bapi").rglob("*.py")))


def complaints(text, texts_of):
    """(line, what was found, what to write) in the text of a file."""
    for line, words in texts_of(text):
        for pattern, instead in PATTERNS:
            for found in pattern.finditer(words):
                yield line + words.count("\n", 0, found.start()), found.group(), instead


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    count = files = 0
    for path, texts_of in sources(root):
        name = path.relative_to(root).as_posix()
        if name in STORED:
            continue
        files += 1
        for line, found, instead in complaints(path.read_text(), texts_of):
            print(f"error: {name}:{line}: '{found}'; write: {instead}")
            count += 1
    print(f"{len(GLOSSARY)} rules, {files} files: {count} errors")
    return 1 if count or not files else 0


if __name__ == "__main__":
    sys.exit(main())
