#!/usr/bin/env python3
"""Checks the direction of includes in src/.

include_layers.py [ROOT]    prints each wrong include as path:line: why; exit code 1 when there is one.

Each folder of src/ has a level. A file may include its own folder and folders of lower levels; folders of one level
never include each other. Below loop/ and replay/ every subfolder is a folder of its own; elsewhere a subfolder
belongs to its parent. Tests and fakes obey the same rule. A new folder is added to LEVELS here and to the tree in
docs/architecture.md.
"""

import pathlib
import re
import sys

LEVELS = {
    "base": 0,
    "artifact": 1,
    "resource": 1,
    "trace": 2,
    "llm": 2,
    "sandbox": 2,
    "device": 2,
    "loop/*": 3,
    "synth": 3,
    "dataset": 3,
    "replay/*": 3,
    "loop/conduct": 4,
    "sim": 4,
    "loop": 4,
    "replay": 4,
    "batch": 4,
    "loop/optimize": 5,
    "cli": 6,
    "server": 6,
    "main": 7,
}
# The only files that stand directly in loop/ and replay/: the ones that see all of their steps.
COORDINATORS = {"loop": "conductor", "replay": "replayer"}

SOURCE_SUFFIXES = {".h", ".cc"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
# Generated programs are kept in raw strings, and their includes are not ours.
RAW_STRING = re.compile(r'\bR"([^()\s\\]{0,16})\(.*?\)\1"', re.DOTALL)
BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


class Unplaced(Exception):
    """The file has no place in the layers; the text says why."""


def folder_of(path):
    """The folder, as a unit of the layers, of a path relative to src/."""
    parts = pathlib.PurePosixPath(path).parts
    if len(parts) == 1:
        if parts[0].startswith("main"):
            return "main"
        raise Unplaced(f"only main.cc stands directly in src/, not {path}")
    top = parts[0]
    if top in COORDINATORS:
        if len(parts) > 2:
            return f"{top}/{parts[1]}"
        if not parts[1].startswith((COORDINATORS[top], "fake_" + COORDINATORS[top])):
            raise Unplaced(f"only {COORDINATORS[top]}.* stands directly in {top}/; move {parts[1]} to a subfolder")
    elif top not in LEVELS:
        raise Unplaced(f"unknown folder {top}/; give it a level in LEVELS of tools/checks/include_layers.py")
    return top


def level_of(folder):
    if folder in LEVELS:
        return LEVELS[folder]
    return LEVELS[folder.split("/")[0] + "/*"]


def blank(match):
    """Keeps line numbers right where text is taken out."""
    return "\n" * match.group(0).count("\n")


def includes(text):
    """Yields (line, path, quoted) for each include of a source text."""
    text = BLOCK_COMMENT.sub(blank, RAW_STRING.sub(blank, text))
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield line, match.group(1) or match.group(2), match.group(1) is not None


def problem(root, folder, target, quoted):
    """Why a file of this folder may not include the target, or None."""
    if not quoted:
        if (root / "src" / target).is_file():
            return f'<{target}> is kerf\'s own; write "{target}"'
        return None
    if (root / "include" / target).is_file():
        return None
    if not (root / "src" / target).is_file():
        return f'"{target}" is not in src/; quoted includes are relative to src/'
    other = folder_of(target)
    if other == folder or level_of(other) < level_of(folder):
        return None
    if level_of(other) == level_of(folder):
        return f"{folder} and {other} are of one level and may not include each other ({target})"
    return f"{folder} is below {other} and may not include {target}"


def check(root):
    root = pathlib.Path(root)
    problems = []
    for file in sorted((root / "src").rglob("*")):
        if file.suffix not in SOURCE_SUFFIXES:
            continue
        path = file.relative_to(root / "src").as_posix()
        try:
            folder = folder_of(path)
        except Unplaced as error:
            problems.append(f"src/{path}:1: {error}")
            continue
        for line, target, quoted in includes(file.read_text(encoding="utf-8", errors="replace")):
            try:
                why = problem(root, folder, target, quoted)
            except Unplaced as error:
                why = str(error)
            if why:
                problems.append(f"src/{path}:{line}: {why}")
    return problems


def main(argv):
    root = argv[1] if len(argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    problems = check(root)
    for line in problems:
        print(line)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
