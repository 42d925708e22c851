"""Checks pairs against what GEAK's loaders demand and its writers promise: geak_rules.py ROOT ITERATION...

GEAK opens the mem file in the locale's encoding: the test runs this with one that knows ASCII only.
"""

import json
import re
import sys

MEM_KEYS = ["call_err_msg", "exe_err_msg", "reflection", "oneshot", "perf_candidates", "perf_strategy", "call_candidate",
            "exe_candidate", "temp_strategy", "perf_debug_num", "pass_call", "pass_exe", "pass_perf"]


def refuse(word):
    raise AssertionError(f"{word} is no JSON")


def check_memory(name, memory):
    assert list(memory) == MEM_KEYS, (name, list(memory))
    for key in ("call_err_msg", "exe_err_msg"):  # str(…) of the text: "None", never null
        assert isinstance(memory[key], str) and memory[key].strip(), (name, key)
    for key in ("call_candidate", "exe_candidate", "temp_strategy", "oneshot"):
        assert memory[key] is None or (isinstance(memory[key], str) and memory[key]), (name, key)
    assert memory["reflection"] is None and memory["perf_strategy"] is None, name
    assert type(memory["perf_debug_num"]) is int, name
    for flag in ("pass_call", "pass_exe", "pass_perf"):
        assert type(memory[flag]) is bool, (name, flag)
    for candidate in memory["perf_candidates"]:
        code, speedup, efficiency, reflection, profile = candidate
        assert isinstance(code, str) and code and type(speedup) is float and speedup > 0, name
        assert efficiency == 0.0 and isinstance(reflection, str) and profile is None, name
    speedups = [candidate[1] for candidate in memory["perf_candidates"]]
    assert speedups == sorted(speedups, reverse=True), (name, "the first is the best")
    assert memory["pass_call"] or not memory["pass_exe"], (name, "what ran was called")
    assert memory["pass_exe"] or not memory["pass_perf"], (name, "what was measured was right")
    assert speedups or not memory["pass_perf"], (name, "pass_perf without a measurement")
    assert memory["exe_candidate"] or not memory["pass_exe"], name
    assert memory["call_candidate"] or not memory["pass_call"], name


def check_record(record, memory):
    name = record["filename"]
    for key in ("instruction", "label"):
        assert isinstance(record[key], str), (name, key)
    # Written only where they hold something.
    for key in ("predict", "test_code"):
        assert record.get(key, "x"), (name, key)
    if memory["perf_candidates"]:
        assert [record["predict"], record["speedup"]] == memory["perf_candidates"][0][:2], (name, "predict is the best")
    else:
        assert record["speedup"] == 0.0, (name, "a speedup that nobody measured")
    if memory["call_candidate"]:
        assert record["predict"], name


def check_pair(root, iteration):
    jsonl = f"{root}_{iteration}.jsonl"
    root_again, number = re.fullmatch(r"(.*)_(\d+)\.jsonl", jsonl).groups()
    with open(jsonl, encoding="utf-8") as file:
        records = [json.loads(line, parse_constant=refuse) for line in file.readlines()]
    with open(f"{root_again}_mem_{number}.json") as file:  # as GEAK does, without an encoding
        memories = json.load(file, parse_constant=refuse)
    assert len(memories) == len(records), "GEAK refuses to resume"
    assert list(memories) == [record["filename"] for record in records], "joined by name"
    for record in records:
        check_memory(record["filename"], memories[record["filename"]])
        check_record(record, memories[record["filename"]])
    return len(records)


if __name__ == "__main__":
    for one in sys.argv[2:]:
        assert check_pair(sys.argv[1], one) > 0
