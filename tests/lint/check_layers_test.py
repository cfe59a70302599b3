#!/usr/bin/env python3
"""tools/check_layers.py finds what it is there to find."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).parent.parent.parent / "tools" / "check_layers.py"

TABLE = """
bapi_module(base)
bapi_module(math  DEPENDS base)
bapi_module(study DEPENDS math base)
bapi_module(store DEPENDS study base)
"""


# One include for every arrow of the table.
ARROWS = {"math/arrows.h": '#include "bapi/base/b.h"\n',
          "study/arrows.h": '#include "bapi/math/b.h"\n#include "bapi/base/b.h"\n',
          "store/arrows.h": '#include "bapi/study/b.h"\n#include "bapi/base/b.h"\n'}


def check(files, table=TABLE, arrows=ARROWS):
    """Runs the check on a tree with these files below src/bapi: (exit code, output)."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"CMakeLists.txt": table, **(arrows if table == TABLE else {}), **files}.items():
            path = root / "src" / "bapi" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class CheckLayers(unittest.TestCase):
    def assert_refused(self, files, message, table=TABLE):
        code, output = check(files, table)
        self.assertEqual(code, 1, output)
        self.assertIn(message, output)

    def test_downward_includes_pass(self):
        code, output = check({"study/a.cc": '#include "bapi/math/b.h"\n#include <vector>\n',
                              "cli/main.cc": '#include "bapi/store/s.h"\n#include <CLI/CLI.hpp>\n'})
        self.assertEqual(code, 0, output)

    def test_upward_include_is_refused(self):
        self.assert_refused({"math/a.h": '\n#include "bapi/study/b.h"\n'}, "math/a.h:2: bapi/study/b.h: math may include")

    def test_include_missing_from_the_table_is_refused(self):
        self.assert_refused({"store/a.cc": '#include "bapi/math/b.h"\n'}, "store may include only study, base")

    def test_nobody_writes_to_a_log_past_the_gate(self):
        self.assert_refused({"study/a.cc": "log.append(3, facts, now, Durability::power);\n"},
                            "study/a.cc:1: 'Durability' belongs to store/: write through store/log_writer.h")
        self.assert_refused({"cli/a.cc": "\nlog.append_decision(3, e, now);\n"}, "cli/a.cc:2: 'append_decision'")
        code, output = check({"store/a.cc": "log.append(3, facts, now, Durability::power);\n"})
        self.assertEqual(code, 0, output)

    def test_nobody_includes_the_program(self):
        self.assert_refused({"store/a.cc": '#include "bapi/cli/b.h"\n'}, "no module 'cli' below store")

    def test_the_python_extension_does_not_include_the_program(self):
        self.assert_refused({"../../python/core/a.cc": '#include "bapi/cli/b.h"\n'}, "python/core/a.cc:1: bapi/cli/b.h")
        code, output = check({"../../python/core/a.cc": '#include "bapi/store/s.h"\n#include "convert.h"\n'})
        self.assertEqual(code, 0, output)

    def test_module_outside_the_table_is_refused(self):
        self.assert_refused({"util/a.cc": "\n"}, "module 'util' is not in the layer table")

    def test_table_with_an_upward_arrow_is_refused(self):
        self.assert_refused({}, "base depends on math, which is not listed before it",
                            "bapi_module(base DEPENDS math)\nbapi_module(math)\n")

    def test_empty_table_is_refused(self):
        self.assertEqual(check({}, "add_library(x)\n")[0], 1)

    def test_numerics_know_no_outside_world(self):
        for line in ["#include <iostream>", "#include <filesystem>", "#include <chrono>", "std::chrono::seconds s;",
                     '#include "bapi/base/clock.h"', "#include <nlohmann/json.hpp>", "sqlite3* db;"]:
            self.assert_refused({"math/a.cc": line + "\n"}, "math/a.cc:1: numerics must not contain")
        self.assertEqual(check({"math/a.cc": "// In chronological order.\n"})[0], 0)

    def test_libraries_stay_in_their_place(self):
        for path, header in [("study/a.cc", "yaml-cpp/yaml.h"), ("study/spec_file.cc", "nlohmann/json.hpp"),
                             ("study/a.cc", "sqlite3.h"), ("store/a.cc", "CLI/CLI.hpp")]:
            self.assert_refused({path: f"#include <{header}>\n"}, f"{path}:1: {header}: ")
        code, output = check({"study/yaml_fields.cc": "#include <yaml-cpp/yaml.h>\n", "store/a.cc": "#include <sqlite3.h>\n"})
        self.assertEqual(code, 0, output)

    def test_arrow_without_include_is_refused(self):
        code, output = check({"store/arrows.h": '#include "bapi/base/b.h"\n'})
        self.assertEqual(code, 1, output)
        self.assertIn("store depends on study and includes nothing of it", output)

    def test_source_without_test_is_a_warning(self):
        code, output = check({"base/a.cc": "\n"})
        self.assertEqual(code, 0, output)
        self.assertIn("warning: src/bapi/base/a.cc has no tests/base/a_test.cc", output)


if __name__ == "__main__":
    unittest.main()
