#!/usr/bin/env python3
"""Sums up test runs from ctest's JUnit files.

test_summary.py [--failed WHAT]... [--ctest-failed PRESET]... [PRESET=FILE]...

Prints what failed, what was skipped and why, and as the last line "N passed, N failed, N skipped". A GoogleTest case
counts as one test; a program of another kind counts as one. A case that ran under several presets counts once: failed
when it failed anywhere, else passed when it passed anywhere. --failed adds a failure that is no test, such as a build;
--ctest-failed says that ctest failed, for whatever reason, so that the preset's counts must show it. Exit code: 1 when anything failed.
"""

import argparse
import collections
import re
import sys
import xml.etree.ElementTree

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
# No anchor at the line's start: a test may leave its last line of output open.
EVENT = re.compile(
    r"\[\s+(?P<mark>RUN|OK|FAILED|SKIPPED)\s+\] (?P<name>[^\s,]+)(?:, where [^\n]*?)?"
    r"(?P<done> \(\d+ ms\))?[ \t\r]*$", re.MULTILINE)

Case = collections.namedtuple("Case", "test name status reason")


def skip_reason(text):
    """What GTEST_SKIP() << … said: the text after 'file:line: Skipped'."""
    _, found, reason = text.partition(": Skipped\n")
    return " ".join((reason if found else text).split()) or "no reason given"


def gtest_cases(test, output):
    """The cases in a GoogleTest program's output. One that began and never ended is the one that crashed."""
    cases, running, began = [], None, 0
    for event in EVENT.finditer(output):
        mark, name = event.group("mark"), event.group("name")
        if mark == "RUN":
            if running:
                cases.append(Case(test, running, FAILED, "did not end"))
            running, began = name, event.end()
        elif event.group("done") and name == running:
            reason = skip_reason(output[began : event.start()]) if mark == "SKIPPED" else ""
            cases.append(Case(test, name, {"OK": PASSED, "FAILED": FAILED, "SKIPPED": SKIPPED}[mark], reason))
            running = None
    if running:
        cases.append(Case(test, running, FAILED, "did not end: crash or time limit"))
    return cases


def cases_of(file):
    """Every case of one ctest run."""
    cases = []
    for element in xml.etree.ElementTree.parse(file).getroot().iter("testcase"):
        test, status = element.get("name"), element.get("status")
        output = element.findtext("system-out") or ""
        found = gtest_cases(test, output)
        cases += found
        if status == "fail" and not any(case.status == FAILED for case in found):
            cases.append(Case(test, "", FAILED, "the program failed although no case did" if found else ""))
        elif status in ("notrun", "disabled"):
            why = element.find("skipped")
            message = why.get("message") or status if why is not None else status
            # ctest says "notrun" both for a test that skipped itself and for one whose program is missing.
            skipped_itself = message.startswith("SKIP_")
            if skipped_itself and output.strip():
                message = output.strip().splitlines()[-1]
            cases.append(Case(test, "", SKIPPED if skipped_itself or status == "disabled" else FAILED, message))
        elif not found and status == "run":
            cases.append(Case(test, "", PASSED, ""))
    return cases


def merge(runs):
    """{(test, name): [(preset, case)]} from [(preset, cases)]."""
    merged = collections.defaultdict(list)
    for preset, cases in runs:
        for case in cases:
            merged[(case.test, case.name)].append((preset, case))
    return merged


def verdict(results):
    statuses = {case.status for _, case in results}
    return FAILED if FAILED in statuses else PASSED if PASSED in statuses else SKIPPED


def summarize(runs, other_failures=()):
    """Returns the lines to print and whether anything failed."""
    lines = []
    for preset, cases in runs:
        counts = collections.Counter(case.status for case in cases)
        lines.append(f"{preset}: {counts[PASSED]} passed, {counts[FAILED]} failed, {counts[SKIPPED]} skipped")
    merged = merge(runs)
    failed = [f"  {what}" for what in other_failures]
    skipped = []
    for (test, name), results in sorted(merged.items()):
        presets = collections.defaultdict(list)
        for preset, case in results:
            presets[(case.status, case.reason)].append(preset)
        for (status, reason), where in presets.items():
            line = f"  {test}{' ' + name if name else ''} ({', '.join(where)}){': ' + reason if reason else ''}"
            if status == FAILED:
                failed.append(line)
            elif status == SKIPPED:
                skipped.append(line)
    if failed:
        lines += ["failed:"] + failed
    if skipped:
        lines += ["skipped:"] + skipped
    totals = collections.Counter(verdict(results) for results in merged.values())
    totals[FAILED] += len(other_failures)
    lines.append(f"{totals[PASSED]} passed, {totals[FAILED]} failed, {totals[SKIPPED]} skipped")
    return lines, totals[FAILED] > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--failed", action="append", default=[])
    parser.add_argument("--ctest-failed", action="append", default=[])
    parser.add_argument("runs", nargs="*", metavar="PRESET=FILE")
    args = parser.parse_intermixed_args()
    runs = []
    for run in args.runs:
        preset, _, file = run.partition("=")
        try:
            runs.append((preset, cases_of(file)))
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            args.failed.append(f"{preset}: no readable test report ({error})")
    for preset, cases in runs:
        if preset in args.ctest_failed and not any(case.status == FAILED for case in cases):
            args.failed.append(f"{preset}: ctest failed although no test did" if cases else f"{preset}: no tests ran")
    lines, failed = summarize(runs, args.failed)
    print("\n".join(lines))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
