#!/usr/bin/env python3
"""tools/check_names.py finds what it is there to find."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).parent.parent.parent / "tools" / "check_names.py"


def in_namespace(text, name="bapi"):
    return f"namespace {name} {{\n{text}\n}}\n"


def unnamed(text):
    return in_namespace(in_namespace(text, ""))


def check(files):
    """Runs the check on a tree with these files below src/bapi: (exit code, output)."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"base/other.h": in_namespace("struct Other {};"), **files}.items():
            path = root / "src" / "bapi" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class CheckNames(unittest.TestCase):
    def assert_refused(self, first, second, name):
        code, output = check({"math/a.h": in_namespace(first), "store/b.h": in_namespace(second)})
        self.assertEqual(code, 1, output)
        self.assertIn(f"store/b.h:2: bapi::{name} is defined in math/a.h:2 already", output)

    def assert_passes(self, first, second):
        code, output = check({"math/a.h": in_namespace(first), "math/b.h": second})
        self.assertEqual(code, 0, output)

    def test_a_type_has_one_definition(self):
        for first, second in [("struct Axis {\n  int x;\n};", "struct Axis {};"),
                              ("class Axis {};", "enum class Axis { x, y };"),
                              ("using Axis = int;", "class Axis final : public Line {};"),
                              ("template <typename T>\nstruct Axis {};", "enum Axis : int {};")]:
            self.assert_refused(first, second, "Axis")

    def test_a_type_may_be_declared_used_and_hidden(self):
        for harmless in ["struct Axis;", "Axis axis() { return {}; }", "struct Line { struct Axis {}; };",
                         "namespace inner { struct Axis {}; }", "// struct Axis {};",
                         "template <>\nstruct Axis<int> {};", 'const char* kText = "struct Axis {};";']:
            self.assert_passes("struct Axis {};", in_namespace(harmless))
        self.assert_passes("struct Axis {};", unnamed("struct Axis {};"))

    def test_a_function_has_one_definition_for_its_parameters(self):
        self.assert_refused("inline int twice(int x) { return 2 * x; }", "inline int twice(int y) { return y + y; }", "twice")
        self.assert_refused("inline void put(const std::map<int, int>& of, int n = 3) {}",
                            "inline void put(const std::map<int, int>& all, int m) {}", "put")
        self.assert_refused("template <typename T>\nT same(T x) { return x; }",
                            "template <typename T>\nT same(T y) { return y; }", "same")
        self.assert_refused("bool operator==(const A& a, const A& b) { return true; }",
                            "bool operator==(const A& x, const A& y) { return false; }", "operator==")

    def test_a_function_may_be_declared_and_overloaded(self):
        for harmless in ["int twice(int x);", "inline double twice(double x) { return 2 * x; }",
                         "inline int twice(int x, int y) { return x + y; }", "inline int thrice(int x) { return 3 * x; }",
                         "int Number::twice(int x) { return 2 * x; }", "template <Real T>\nT twice(T x) { return x; }",
                         "Two::Two(int x) : twice(x) {}"]:
            self.assert_passes("inline int twice(int x) { return 2 * x; }", in_namespace(harmless))

    def test_a_variable_has_one_definition(self):
        self.assert_refused("inline constexpr int kLimit = 3;", "inline constexpr double kLimit = 4.0;", "kLimit")
        self.assert_refused("constexpr int kSizes[] = {1, 2};", "const std::vector<int> kSizes = {3};", "kSizes")
        self.assert_refused("template <>\ninline constexpr auto names<Kind> = Table{1};",
                            "template <>\ninline constexpr auto names<Kind> = Table{2};", "names<Kind>")
        self.assert_passes("template <>\ninline constexpr auto names<Kind> = Table{1};",
                           in_namespace("template <>\ninline constexpr auto names<Form> = Table{1};\nextern int names;"))

    def test_a_name_without_linkage_stands_once_per_module(self):
        for text in ["constexpr int kTries = 3;", "int twice(int x) { return 2 * x; }", "struct Look {};"]:
            code, output = check({"math/a.cc": unnamed(text), "math/b.cc": unnamed(text)})
            self.assertEqual(code, 1, output)
            self.assertIn("math/b.cc:3: ", output)
            self.assertIn("has no linkage and is defined in math/a.cc:3 already", output)
            code, output = check({"math/a.cc": unnamed(text), "store/b.cc": unnamed(text)})
            self.assertEqual(code, 0, output)
        static = in_namespace("static int twice(int x) { return 2 * x; }")
        self.assertEqual(check({"math/a.cc": static, "math/b.cc": static})[0], 1)

    def test_the_same_holds_for_the_files_of_a_test_program(self):
        text = unnamed("constexpr int kTries = 3;")
        code, output = check({"../../tests/math/a_test.cc": text, "../../tests/math/b_test.cc": text})
        self.assertEqual(code, 1, output)
        self.assertIn("math/b_test.cc:3: kTries has no linkage", output)
        own = in_namespace(in_namespace("constexpr int kTries = 3;", "b_test"))
        for files in [{"../../tests/math/a_test.cc": text, "../../tests/math/b_test.cc": own},
                      {"../../tests/math/a_test.cc": text, "../../tests/store/b_test.cc": text}]:
            code, output = check(files)
            self.assertEqual(code, 0, output)

    def test_what_no_other_file_mentions_is_hidden(self):
        for text in ["int twice(int x) { return 2 * x; }", "extern const int twice;\nconst int twice = 3;"]:
            code, output = check({"math/a.cc": in_namespace(text), "math/b.cc": in_namespace("// twice")})
            self.assertEqual(code, 1, output)
            self.assertIn("twice is mentioned in no other file", output)
            for harmless in [{"math/a.cc": unnamed(text)},
                             {"math/a.cc": in_namespace(text), "math/a.h": in_namespace("int twice(int x);")},
                             {"math/a.h": in_namespace("inline " + text.splitlines()[-1])}]:
                code, output = check(harmless)
                self.assertEqual(code, 0, output)

    def test_an_alias_may_be_repeated_where_it_says_the_same(self):
        text = unnamed("using Json = nlohmann::json;")
        self.assertEqual(check({"math/a.cc": text, "math/b.cc": text})[0], 0)
        self.assertEqual(check({"math/a.cc": text, "math/b.cc": unnamed("using Json = int;")})[0], 1)

    def test_nothing_found_is_an_error(self):
        code, output = check({"base/other.h": ""})
        self.assertEqual(code, 1, output)


if __name__ == "__main__":
    unittest.main()
