#!/usr/bin/env python3
"""Checks that what the documents point at exists.

doc_links.py [ROOT]    prints each dead link or path as path:line: why; exit code 1 when there is one.

Documents are README.md, CONTRIBUTING.md and docs/**/*.md. Checked are relative links with their anchors, and every
mention of a path in one of the FOLDERS, in prose and in code. A path may be a pattern (docs/formats/*.md,
src/base/result.{h,cc}); one with a placeholder (NNNN, <name>, an ellipsis) is not checked. Text about another tree
stands between <!-- paths: elsewhere --> and <!-- paths: here -->.
"""

import pathlib
import re
import sys

FOLDERS = (
    "src|include|pto|simt|python|prompts|chips|examples|ui|test|bench|docs|tools|cmake|\\.ci"
)
MENTION = re.compile(r"(?<![\w/.~*}>$-])(?:\./)?((?:" + FOLDERS + r")/[\w./*{},<>…-]*)")
LINK = re.compile(r"!?\[[^\]\n]*\]\(\s*<?([^()\s<>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^\s{0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)")
PLACEHOLDER = re.compile(r"NNNN|[<>…]|\.\.\.")
FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")
ELSEWHERE = re.compile(r"<!--\s*paths:\s*(elsewhere|here)\s*-->")


def documents(root):
    for name in ("README.md", "CONTRIBUTING.md"):
        if (root / name).is_file():
            yield root / name
    yield from sorted((root / "docs").rglob("*.md"))


def lines_of(file):
    """Yields (number, text, inside a fence)."""
    fenced = False
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
            continue
        yield number, line, fenced


def slug(heading):
    """The anchor a heading gets, by the rule of the common hosting sites."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[^\w\- ]", "", text.replace("`", "").lower())
    return text.replace(" ", "-")


def anchors(file):
    found, seen = set(), {}
    for _, line, fenced in lines_of(file):
        if fenced:
            continue
        heading = HEADING.match(line)
        if heading:
            name = slug(heading.group(1))
            seen[name] = seen.get(name, -1) + 1
            found.add(f"{name}-{seen[name]}" if seen[name] else name)
        found.update(re.findall(r"<a\s+(?:id|name)=\"([^\"]+)\"", line))
    return found


def link_problem(root, file, target):
    if re.match(r"[a-z][a-z0-9+.-]*:", target, re.IGNORECASE):
        return None
    path, _, anchor = target.partition("#")
    where = (root / path.lstrip("/") if path.startswith("/") else file.parent / path) if path else file
    where = where.resolve()
    if not where.is_relative_to(root.resolve()):
        return f"link leaves the repository: {target}"
    if not where.exists():
        return f"dead link: {target}"
    if anchor and where.suffix == ".md" and anchor not in anchors(where):
        return f"no heading for the anchor of {target}"
    return None


def expand(pattern):
    """a.{h,cc} as a.h and a.cc."""
    match = re.search(r"\{([^{}]*)\}", pattern)
    if not match:
        return [pattern]
    return [
        path
        for choice in match.group(1).split(",")
        for path in expand(pattern[: match.start()] + choice + pattern[match.end() :])
    ]


def mention_problem(root, mention):
    path = mention.rstrip(".,")
    # A brace that the sentence opened, not the path.
    if path.count("{") != path.count("}"):
        path = re.split(r"[{}]", path)[0]
    if PLACEHOLDER.search(path):
        return None
    for choice in expand(path):
        exists = any(root.glob(choice.rstrip("/"))) if "*" in choice else (root / choice).exists()
        if not exists:
            return f"no such path: {choice}"
    return None


def check(root):
    root = pathlib.Path(root)
    problems = []
    for file in documents(root):
        here = True
        for number, line, fenced in lines_of(file):
            mark = ELSEWHERE.search(line)
            if mark:
                here = mark.group(1) == "here"
            found = []
            if not fenced:
                targets = LINK.findall(line) + REFERENCE.findall(line)
                found += [link_problem(root, file, target) for target in targets]
                line = LINK.sub(lambda link: link.group(0).replace(link.group(1), ""), line)
                line = REFERENCE.sub("", line)
            if here:
                line = re.sub(r"\b[a-z]+://\S+", "", line)
                found += [mention_problem(root, mention) for mention in MENTION.findall(line)]
            problems += [f"{file.relative_to(root)}:{number}: {why}" for why in found if why]
    return problems


def main(argv):
    root = argv[1] if len(argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    problems = check(root)
    for line in problems:
        print(line)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
