#!/usr/bin/env python3
"""The straightforward script that kerf debug extract is measured beside.

dataset_peer.py json|orjson decide DATA.jsonl MEM.json          prints the table of failed cases
dataset_peer.py json|orjson extract DATA.jsonl MEM.json DIR     writes the texts of each, nothing more

Exit code 9: orjson is not installed.
"""

import os
import sys

FLAGS = ("pass_call", "pass_exe", "pass_perf")


def content(value):
    return value if isinstance(value, str) and value.strip() and value != "None" else None


def write(folder, name, text):
    if text is None:
        return
    with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
        file.write(text)


def extract(root, name, line, mem):
    folder = os.path.join(root, name.removesuffix(".py").replace("/", "_"))
    os.makedirs(folder, exist_ok=True)
    write(folder, "0_instruction.txt", content(line.get("instruction")))
    write(folder, "1_label_source.py", content(line.get("label")))
    write(folder, "2_initial_predict.hip.cpp", content(line.get("predict")))
    write(folder, "3_test_code.py", content(line.get("test_code")))
    write(folder, "candidate_call_fix.hip.cpp", content(mem.get("call_candidate")))
    write(folder, "candidate_exe_fix.hip.cpp", content(mem.get("exe_candidate")))
    for i, candidate in enumerate(mem.get("perf_candidates") or [], 1):
        write(folder, f"candidate_perf_fix_{i}.hip.cpp", content(candidate[0]))
    errors = [text for text in map(content, (mem.get("call_err_msg"), mem.get("exe_err_msg"))) if text]
    write(folder, "error_log.txt", "\n".join(errors) or None)
    write(folder, "reflection_strategy.md", content(mem.get("temp_strategy")) or content(mem.get("reflection")))


def main():
    library, job, jsonl_path, mem_path = sys.argv[1:5]
    if library == "orjson":
        try:
            import orjson as json
        except ImportError:
            return 9
    else:
        import json
    with open(mem_path, "rb") as file:
        mem = json.loads(file.read())
    with open(jsonl_path, "rb") as file:
        lines = {}
        for text in file:
            record = json.loads(text)
            lines[record["filename"]] = record
    for name, record in mem.items():
        if all(record.get(flag) for flag in FLAGS):
            continue
        failed = next(flag for flag in FLAGS if not record.get(flag))
        error = content(record.get("call_err_msg")) or content(record.get("exe_err_msg")) or ""
        print(name, failed, len(record["perf_candidates"]), error.strip().split("\n")[0])
        if job == "extract":
            extract(sys.argv[5], name, lines.get(name, {}), record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
