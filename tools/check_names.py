#!/usr/bin/env python3
"""Checks that no name is defined twice, or visible for nobody; `tools/check_names.py [ROOT]`.

A type, a function with the same parameters or a variable that a namespace of src/bapi, or of one test program, has
twice breaks the rule of one definition, and the linker takes either of the two without a word. A name without linkage (in
an unnamed namespace, or static) may stand once per module and once per folder of tests, because their files are compiled
together. A test may name its namespace after its file instead: `namespace rungs_test {`. A function or variable of the
product that no file but its own .cc mentions belongs in an unnamed namespace.
"""

import collections
import pathlib
import re
import sys
import typing

# Comments, literals and preprocessor lines; what is cut out of them is their line ends alone.
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?:.*?)\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'|'
                   r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.DOTALL | re.MULTILINE)
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\b\s*([\w:]*)$")
TYPE = re.compile(r"(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?:\[\[\w+\]\]\s*)?(\w+)"
                  r"(?P<arguments>\s*<.*>)?\s*(?:final\b\s*)?(?::(?!:).*)?$", re.DOTALL)
ALIAS = re.compile(r"using\s+(\w+)\s*=")
FUNCTION = re.compile(r"(operator\s*[^\s\w(]+|operator\(\)|(?<![\w:~])\w+)\s*(<[^()]*>)?\s*\(")
VARIABLE = re.compile(r"[\w>&*\]]\s+(\w+(?:<[^=]*>)?)\s*(?:\[[^]]*\]\s*)*(?:=|$)")
NOT_DEFINED = re.compile(r"\s*(?:extern|friend|using\s+(?!\w+\s*=)|static_assert|return|public|private|protected)\b")


def without_noise(text):
    return NOISE.sub(lambda found: re.sub(r"[^\n]", "", found.group()) or " ", text)


def split_outside(text, separator):
    """`text` at every `separator` that no bracket encloses."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        if letter in "(<[{":
            depth += 1
        elif letter in ")>]}":
            depth -= 1
        elif letter == separator and depth <= 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


def without_template(text):
    """(The declaration without `template <...>`, what was cut off.)"""
    head = ""
    while found := re.match(r"\s*template\s*<", text):
        depth, end = 1, found.end()
        while depth and end < len(text):
            depth += {"<": 1, ">": -1}.get(text[end], 0)
            end += 1
        head, text = head + text[:end], text[end:]
    return text, head


def parameter_types(text):
    """The parameters of a function from behind its opening bracket, without names, defaults and blanks."""
    depth, end = 1, 0
    while depth and end < len(text):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    types = []
    for parameter in split_outside(text[:end - 1], ","):
        kind = split_outside(parameter, "=")[0].strip()
        kind = re.sub(r"(?<=[\w>&*\]])\s*(?<![\w:])(?!(?:int|double|bool|char|long|unsigned|float|auto|const)\b)\w+$", "", kind) \
            if re.search(r"[\s&*>]\w+$", kind) else kind
        types.append(re.sub(r"\s+", "", kind))
    return f"{','.join(types)}){re.sub(chr(10), ' ', text[end:]).strip()}"


def what_is_defined(statement, has_body):
    """(Kind, name, key that tells overloads apart) of a declaration in a namespace, or None if it defines nothing."""
    if NOT_DEFINED.match(statement):
        return None
    text, template = without_template(statement)
    text = re.sub(r"\[\[[^]]*\]\]", "", text).strip()
    if text.startswith("namespace"):
        return None  # another name for one
    if alias := ALIAS.match(text):
        return "alias", alias.group(1), alias.group(1)
    if found := TYPE.match(text):
        name = found.group(1) + re.sub(r"\s+", "", found.group("arguments") or "")
        return ("type", name, name) if has_body else None
    function = FUNCTION.search(text)
    assigned = split_outside(text, "=")[0]
    if function and function.start() < len(assigned):
        if not has_body or "(" in text[:function.end() - 1]:
            return None  # a declaration, or a member with its class before it
        if not text[:function.start()].strip():
            return None  # a macro
        name = function.group(1) + (function.group(2) or "")
        plain = re.fullmatch(r"(?:template|[\s<>,.]|(?:typename|class)\b[\s.]*\w*)*", template)
        constraint = "" if plain else re.sub(r"\s+", " ", template)
        return "function", name, f"{name}({parameter_types(text[function.end():])}{constraint}"
    if found := VARIABLE.search(assigned):
        return "variable", found.group(1), found.group(1)
    return None


class Definition(typing.NamedTuple):
    space: str
    kind: str
    name: str
    key: str
    line: int
    local: bool
    text: str


def definitions(text):
    """Every definition in a namespace of a file, in order."""
    text = without_noise(text)
    spaces, start, at = [], 0, 0

    def record(end, has_body):
        statement = text[start:end]
        found = what_is_defined(statement, has_body)
        if not found or not spaces:
            return
        line = text.count("\n", 0, start + len(statement) - len(statement.lstrip())) + 1
        local = "" in spaces or re.match(r"\s*static\b", statement) is not None
        yield Definition("::".join(s for s in spaces if s), *found, line, local, " ".join(statement.split()))

    while at < len(text):
        letter = text[at]
        if letter == "(":  # nothing inside of brackets ends a declaration
            depth = 0
            while at < len(text):
                depth += {"(": 1, ")": -1}.get(text[at], 0)
                if not depth:
                    break
                at += 1
        elif letter == "{":
            opened = NAMESPACE.search(text[start:at].strip())
            if opened:
                spaces.append(opened.group(1))
                start = at + 1
            else:
                body_of_variable = len(split_outside(text[start:at], "=")) > 1 and "operator" not in text[start:at]
                yield from record(at, True)
                depth = 0
                while at < len(text):
                    depth += {"{": 1, "}": -1}.get(text[at], 0)
                    if not depth:
                        break
                    at += 1
                start = at + 1
                rest = re.match(r"[^;{}]*;", text[start:])
                if body_of_variable and rest or rest and not rest.group()[:-1].strip():
                    at += rest.end()
                    start = at + 1
        elif letter == "}":
            spaces = spaces[:-1]
            start = at + 1
        elif letter == ";":
            yield from record(at, False)
            start = at + 1
        at += 1


def complaints(texts, overloads=True):
    """What is wrong with the sources of one program. Without overloads, a function may share its name with none of
    another file that has other parameters: such calls are easily ambiguous."""
    shared = collections.defaultdict(list)
    local = collections.defaultdict(list)
    for path, text in texts.items():
        for one in definitions(text):
            if one.local:
                local[path.parts[0], one.space, one.key if overloads else one.name].append((path, one))
            else:
                shared[one.space, one.key].append((path, one))
    for (space, _), places in shared.items():
        (first, before), *others = places
        for path, one in others:
            yield f"{path}:{one.line}: {space}::{one.name} is defined in {first}:{before.line} already"
    for (module, *_), places in local.items():
        (first, before), *others = places
        for path, one in others:
            if one.kind == "alias" and one.text == before.text or not overloads and path == first:
                continue  # may be said as often as one likes
            yield (f"{path}:{one.line}: {one.name} has no linkage and is defined in {first}:{before.line} already: files of "
                   f"{module} are compiled together")


def hidden(texts):
    """Complaints about functions and variables with linkage that only the .cc file that defines them mentions."""
    files = collections.Counter(word for text in texts.values() for word in set(re.findall(r"\w+", without_noise(text))))
    for path, text in texts.items():
        for one in definitions(text) if path.suffix == ".cc" else []:
            if one.kind in ("function", "variable") and not one.local and files[one.name] == 1 and one.name != "main":
                yield f"{path}:{one.line}: {one.name} is mentioned in no other file: put it into an unnamed namespace"


def texts_below(base, folder):
    """The sources below base/folder, by their path from base."""
    sources = sorted(p for p in (base / folder).rglob("*") if p.suffix in (".h", ".cc"))
    return {path.relative_to(base): path.read_text() for path in sources}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    product = texts_below(root / "src" / "bapi", "")
    tests = [texts_below(root / "tests", test.name) for test in sorted(root.glob("tests/*")) if test.is_dir()]
    programs = [product, *tests]
    found = [*complaints(product), *hidden(product), *(complaint for texts in tests for complaint in complaints(texts, overloads=False))]
    for complaint in found:
        print(f"error: {complaint}")
    defined = sum(1 for texts in programs for text in texts.values() for _ in definitions(text))
    print(f"{defined} definitions in {sum(map(len, programs))} files: {len(found)} errors")
    return 1 if found or not defined else 0


if __name__ == "__main__":
    sys.exit(main())
