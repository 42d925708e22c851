#!/usr/bin/env python3
"""Prints the ten longest files and functions, and marks those past the size to look again at.

sizes.py [ROOT]    always exit code 0: length is a hint for a person, not a verdict.

Functions are found by matching braces, not by parsing: good enough for a list to look at. A lambda counts to the
function that holds it.
"""

import pathlib
import re
import sys

FOLDERS = ("src", "include", "pto", "simt", "test", "bench")
EXEMPT = ("test/data/", "test/golden/", "test/fuzz/corpus/")
FILE_LIMITS = {".cc": 600, ".h": 250}
FUNCTION_LIMIT = 60
SHOWN = 10

NOISE = re.compile(
    r'R"(?P<d>[^()\s\\]{0,16})\(.*?\)(?P=d)"'  # raw string
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+'"  # a character, not the separator in 1'000
    r"|//[^\n]*"
    r"|/\*.*?\*/"
    r"|^[ \t]*#(?:[^\n\\]|\\.)*"  # preprocessor line
    r"|^[ \t]*(?:public|protected|private)[ \t]*:",
    re.DOTALL | re.MULTILINE,
)


def blank(match):
    return "\n" * match.group(0).count("\n")


def kind_of(head):
    """What a brace opens, from the text between the last statement and it."""
    if re.search(r"\bnamespace\b|\bextern\s*$", head):
        return "scope"
    if "(" in head and not re.match(r"\s*(?:enum|union)\b", head):
        # "Foo::Foo() : a_{1}" opens an initializer; the body follows it.
        after = head[head.rfind(")") + 1 :]
        colon = re.search(r"\)[^()]*?(?<!:):(?!:)", head)
        if colon and re.search(r"[\w>]\s*$", after) and not re.search(r"\b(?:const|noexcept|override|final)\s*$", after):
            return "initializer"
        if re.search(r"=\s*$", head):
            return "other"
        return "function"
    if re.search(r"\b(?:class|struct|union)\b", head) and "=" not in head:
        return "scope"
    return "other"


def name_of(head):
    test = re.search(r"\b(?:TEST(?:_[FP])?|BENCHMARK\w*)\s*\([^()]*\)", head)
    if test:
        return " ".join(test.group(0).split())
    name = re.search(r"((?:[\w~]+::)*(?:operator\s*(?:\(\)|[^\s\w(]+|\s\w+)|~?\w+))\s*\(", head)
    return name.group(1) if name else "?"


def functions(text):
    """Yields (line, length in lines, name)."""
    text = NOISE.sub(blank, text)
    stack = []
    head_start = 0
    for match in re.finditer(r"[{};]", text):
        inside_code = any(kind != "scope" for kind, _, _ in stack)
        token = match.group(0)
        if token == "{":
            head = text[head_start : match.start()]
            kind = "nested" if inside_code else kind_of(head)
            stack.append((kind, head_start + len(head) - len(head.lstrip()), head))
            if kind == "scope":
                head_start = match.end()
        elif token == "}":
            if not stack:
                continue
            kind, start, head = stack.pop()
            if kind == "function":
                first = text.count("\n", 0, start) + 1
                yield first, text.count("\n", 0, match.end()) + 1 - first + 1, name_of(head)
            if kind in ("function", "scope", "other"):
                head_start = match.end()
        elif not inside_code:
            head_start = match.end()


def sources(root):
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix in FILE_LIMITS and not path.startswith(EXEMPT):
                yield file, path


def measure(root):
    """Returns the files as (lines, past the limit, path) and the functions likewise, longest first."""
    root = pathlib.Path(root)
    files, bodies = [], []
    for file, path in sources(root):
        text = file.read_text(encoding="utf-8", errors="replace")
        lines = text.count("\n")
        files.append((lines, lines > FILE_LIMITS[file.suffix], path))
        for line, length, name in functions(text):
            bodies.append((length, length > FUNCTION_LIMIT, f"{path}:{line} {name}"))
    return sorted(files, reverse=True), sorted(bodies, reverse=True)


def main(argv):
    root = argv[1] if len(argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    for title, rows in zip(("files", "functions"), measure(root)):
        past = sum(look_again for _, look_again, _ in rows)
        print(f"longest {title} ({past} of {len(rows)} to look at again)")
        for lines, look_again, what in rows[:SHOWN]:
            print(f"  {lines:5} {'look again  ' if look_again else ''}{what}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
