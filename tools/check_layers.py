#!/usr/bin/env python3
"""Checks the layer rules of src/bapi; `tools/check_layers.py [ROOT]`.

The table is the bapi_module(name DEPENDS ...) lines of src/bapi/CMakeLists.txt. Fails on an include that is not in the
table, on an arrow of the table that no include uses, on a word that numerics must not contain, on an outside library
seen outside its place, on a file of python/core that includes the program, and on a write to a log that goes past
store/log_writer.h.
Source files without a test of the same name are listed as warnings.
"""

import collections
import pathlib
import re
import sys

MODULE_LINE = re.compile(r"^\s*bapi_module\((\w+)(?:\s+DEPENDS\s+([\w\s]+))?\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# The program sits above every module.
TOP = "cli"

NUMERICS = ["math", "kernel", "gp", "cost", "acquisition", "planner", "model"]
FORBIDDEN_IN_NUMERICS = re.compile(r"\b(?:(?:iostream|filesystem|chrono|log\.h|clock\.h)\b|nlohmann|sqlite)")

# Outside library: how its header begins, and where it may be included (files or folders below src/bapi).
LIBRARIES = {
    "SQLite": ("sqlite3", ["store/"]),
    "libpq": ("libpq", ["store/postgres_connection.cc"]),
    "yaml-cpp": ("yaml-cpp/", ["study/yaml_fields.cc"]),
    "nlohmann-json": ("nlohmann/", ["study/codec_", "control/report_parser.cc", "control/requests.cc", "tables/", "report/table.h", "compare/run_log.cc",
                                    "compare/logged_runs.cc"]),
    "CLI11": ("CLI/", ["cli/"]),
    "cpp-httplib": ("httplib.h", ["cli/http_server.cc"]),
}

# What a call of Store::append or Store::append_decision cannot do without.
WRITES_TO_A_LOG = re.compile(r"\bDurability\b|\bappend_decision\b")


def read_layers(table):
    """Module -> the modules it may include, in the order of the table."""
    layers = {}
    for name, depends in MODULE_LINE.findall(table):
        layers[name] = depends.split()
    return layers


def check_table(layers):
    """A module may depend only on those above its line: that makes the table free of circles."""
    seen = []
    for module, depends in layers.items():
        for other in depends:
            if other not in seen:
                yield f"CMakeLists.txt: {module} depends on {other}, which is not listed before it"
        seen.append(module)


def includes(text):
    """(line number, bracket, header) of every include."""
    for number, line in enumerate(text.splitlines(), start=1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1), found.group(2)


def check_include(path, header, layers):
    """The complaint about `#include "bapi/..."` in `path` (relative to src/bapi), or None."""
    module = path.parts[0]
    other = header.split("/")[1]
    if module == TOP or other == module:
        return None
    if other not in layers:
        return f"{header}: there is no module '{other}' below {module}"
    if other not in layers[module]:
        return f"{header}: {module} may include only {', '.join(layers[module]) or 'itself'}"
    return None


def check_library(path, header):
    for library, (prefix, places) in LIBRARIES.items():
        if header.startswith(prefix) and not path.as_posix().startswith(tuple(places)):
            return f"{header}: {library} belongs to {', '.join(places)}"
    return None


def check_gate(path, text):
    """Only what can follow may enter a log: everything that writes does so through the one class that asks."""
    if path.parts[0] == "store":
        return
    for number, line in enumerate(text.splitlines(), start=1):
        found = WRITES_TO_A_LOG.search(line)
        if found:
            yield f"{path}:{number}: '{found.group()}' belongs to store/: write through store/log_writer.h"


def check_words(path, text):
    if path.parts[0] not in NUMERICS:
        return
    for number, line in enumerate(text.splitlines(), start=1):
        found = FORBIDDEN_IN_NUMERICS.search(line)
        if found:
            yield f"{path}:{number}: numerics must not contain '{found.group()}'"


def check_file(path, text, layers):
    if path.parts[0] != TOP and path.parts[0] not in layers:
        yield f"{path}: module '{path.parts[0]}' is not in the layer table"
        return
    for number, bracket, header in includes(text):
        ours = bracket == '"' and header.startswith("bapi/")
        complaint = check_include(path, header, layers) if ours else check_library(path, header)
        if complaint:
            yield f"{path}:{number}: {complaint}"
    yield from check_words(path, text)
    yield from check_gate(path, text)


def check_python(root, layers):
    """The extension sits beside the program, not on it: what both need belongs to the library."""
    for path in sorted((root / "python" / "core").glob("*")):
        for number, bracket, header in includes(path.read_text()):
            ours = bracket == '"' and header.startswith("bapi/")
            if ours and header.split("/")[1] not in layers:
                yield f"python/core/{path.name}:{number}: {header}: the extension may include the library alone"


def check_arrows(layers, used):
    """Every arrow of the table is there because of an include."""
    for module, depends in layers.items():
        for other in depends:
            if other not in used[module]:
                yield f"CMakeLists.txt: {module} depends on {other} and includes nothing of it"


def untested(root, sources):
    for path in sources:
        if path.suffix == ".cc" and path.parts[0] != TOP:
            tests = [root / "tests" / folder / f"{path.stem}_test.cc" for folder in (path.parts[0], "postgres")]
            if not any(test.exists() for test in tests):
                yield path


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    base = root / "src" / "bapi"
    layers = read_layers((base / "CMakeLists.txt").read_text())
    sources = sorted(p.relative_to(base) for p in base.rglob("*") if p.suffix in (".h", ".cc"))

    texts = {path: (base / path).read_text() for path in sources}
    used = collections.defaultdict(set)
    for path, text in texts.items():
        used[path.parts[0]] |= {header.split("/")[1] for _, _, header in includes(text) if header.startswith("bapi/")}

    complaints = list(check_table(layers)) + list(check_arrows(layers, used))
    for path, text in texts.items():
        complaints += check_file(path, text, layers)
    complaints += check_python(root, layers)

    for path in untested(root, sources):
        print(f"warning: src/bapi/{path} has no tests/{path.with_suffix('')}_test.cc")
    for complaint in complaints:
        print(f"error: {complaint}")
    print(f"{len(sources)} files in {len(layers)} modules: {len(complaints)} errors")
    return 1 if complaints or not layers else 0


if __name__ == "__main__":
    sys.exit(main())
