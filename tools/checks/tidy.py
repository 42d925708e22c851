#!/usr/bin/env python3
"""Runs clang-tidy on changed files, in parallel and within a time budget.

tidy.py --build DIR [--base REV | --all] [--budget SECONDS] [--jobs N]

Without --base the base is the merge base with origin/main, or the commit before HEAD where that says nothing (no
remote, or HEAD is on main). Uncommitted and untracked files count as changed. A changed header is checked through
its own .cc or, failing that, one file that includes it.

Files found clean are remembered in DIR/tidy until they, a header of ours, their compile command or the configuration
change; so what the budget leaves out today is reached by running again. Exit code: 0 clean, 1 findings, 3 cannot run.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

CLANG_TIDY = "clang-tidy-14"
SOURCES = ("*.h", "*.cc")


def git(root, *args):
    done = subprocess.run(["git", "-C", str(root), *args], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def default_base(root):
    """The commit to compare with, or None when there is nothing to compare with (a first or a shallow commit)."""
    head = git(root, "rev-parse", "HEAD")
    merge_base = git(root, "merge-base", "origin/main", "HEAD")
    if merge_base and merge_base != head:
        return merge_base
    return git(root, "rev-parse", "--verify", "-q", "HEAD~1")


def changed_files(root, base):
    """Repository paths of C++ files that differ from base (all of them when base is None)."""
    listing = ["ls-files", "--cached", "--others", "--exclude-standard", "--", *SOURCES]
    if base:
        diff = git(root, "diff", "--name-only", "--diff-filter=d", base, "--", *SOURCES)
        if diff is None:
            raise ValueError(f"git does not know the base {base}")
        new = git(root, "ls-files", "--others", "--exclude-standard", "--", *SOURCES)
        paths = diff.splitlines() + new.splitlines()
    else:
        paths = git(root, *listing).splitlines()
    return sorted(path for path in set(paths) if (root / path).is_file())


def translation_units(root, changed, compiled):
    """The compiled files through which the changed ones are seen. Returns them and the changed ones not seen."""
    wanted, unseen = set(), []
    for path in changed:
        if path in compiled:
            wanted.add(path)
        elif path.endswith(".h"):
            partner = path[: -len(".h")] + ".cc"
            including = f'#include "{path.removeprefix("src/")}"'
            users = [partner] if partner in compiled else sorted(
                unit for unit in compiled
                if including in (root / unit).read_text(encoding="utf-8", errors="replace"))
            wanted.update(users[:1])
            if not users:
                unseen.append(path)
        else:
            unseen.append(path)
    return sorted(wanted), unseen


def digest(*parts):
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(len(part).to_bytes(8, "little"))
        hasher.update(part)
    return hasher.hexdigest()


def surroundings(root):
    """One hash over what every file's result depends on besides itself."""
    headers = git(root, "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.h").splitlines()
    version = subprocess.run([CLANG_TIDY, "--version"], capture_output=True, check=True).stdout
    texts = [(root / header).read_bytes() for header in sorted(headers) if (root / header).is_file()]
    return digest(version, (root / ".clang-tidy").read_bytes(), *texts).encode()


class Run:
    """One run over several files; the deadline is a time.monotonic() value."""

    def __init__(self, root, build, deadline):
        self.root, self.build, self.deadline = root, build, deadline

    def tidy(self, path):
        """Returns (path, output or None when time ran out, clean)."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            return path, None, False
        command = [CLANG_TIDY, "-p", str(self.build), "--quiet", "--extra-arg=-Wno-unknown-warning-option",
                   str(self.root / path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=left, check=False)
        except subprocess.TimeoutExpired:
            return path, None, False
        return path, done.stdout or done.stderr, done.returncode == 0


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/debug")
    parser.add_argument("--base")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--budget", type=float, default=90.0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    deadline = time.monotonic() + args.budget

    database = args.build / "compile_commands.json"
    if not database.is_file():
        print(f"no {database}; run cmake --preset debug")
        return 3
    compiled = {}
    for entry in json.loads(database.read_text(encoding="utf-8")):
        file = pathlib.Path(entry["directory"], entry["file"])
        if file.is_file() and file.is_relative_to(root):
            compiled[file.relative_to(root).as_posix()] = entry["command"].encode()

    try:
        changed = changed_files(root, None if args.all else args.base or default_base(root))
    except ValueError as error:
        print(error)
        return 3
    units, unseen = translation_units(root, changed, compiled)

    remembered = args.build / "tidy"
    remembered.mkdir(exist_ok=True)
    around = surroundings(root)
    keys = {path: digest(around, compiled[path], (root / path).read_bytes()) for path in units}
    todo = [path for path in units if not (remembered / keys[path]).exists()]

    run = Run(root, args.build, deadline)
    left_out, dirty, shown = [], 0, set()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for path, output, clean in pool.map(run.tidy, todo):
            if output is None:
                left_out.append(path)
            elif clean:
                (remembered / keys[path]).touch()
            else:
                dirty += 1
                # A finding in a header comes once for each file that includes it.
                for finding in re.split(r"^(?=/\S+:\d+:\d+: (?:error|warning))", output, flags=re.MULTILINE):
                    if finding.strip() and finding not in shown:
                        shown.add(finding)
                        print(finding.rstrip())
    for path in left_out:
        print(f"left out: {path}")
    summary = f"{len(units) - len(left_out)} of {len(units)} changed files tidied, {dirty} with findings"
    if left_out:
        summary += f"; {len(left_out)} left out when the {args.budget:.0f} s were spent, run again to reach them"
    if unseen:
        summary += f"; {len(unseen)} not compiled, so not tidied: {' '.join(unseen)}"
    print(summary)
    return 1 if dirty else 0


if __name__ == "__main__":
    sys.exit(main())
