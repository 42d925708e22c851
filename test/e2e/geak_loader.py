#!/usr/bin/env python3
"""Does GEAK's own code read the pairs that `kerf optimize` writes?

geak_loader.py CHECKOUT ROOT ITERATION

CHECKOUT is a checkout of AMD-AGI/GEAK, branch GEAK-v2. Its loader of results, its loader of memories and its choice of the best
candidate (the first) run on ROOT_ITERATION.jsonl and ROOT_mem_ITERATION.json, as they do when GEAK resumes; then its writer writes the memories
again, and the file must hold the same. What GEAK needs for other things (its evaluator, its retriever, progress bars) is replaced by
empty modules.
"""

import json
import os
import sys
import tempfile
import types


class Anything(types.ModuleType):
    """A module that has every name."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name)

    def __call__(self, *args, **keywords):
        return Anything("made")

    def __getitem__(self, key):
        return Anything("item")


def stub(name):
    sys.modules[name] = Anything(name)


def import_geak(checkout):
    sys.path.insert(0, checkout)
    for name in ("tqdm", "loguru", "tenacity", "openai", "anthropic", "numpy", "torch", "pandas", "yaml", "tb_eval", "tb_eval.evaluators",
                 "tb_eval.evaluators.interface", "tb_eval.helpers", "tb_eval.helpers.helper", "tb_eval.perf", "tb_eval.perf.efficiency",
                 "geak_agent.retrievers", "geak_agent.retrievers.retriever", "geak_agent.dataloaders.TB_eval",
                 "geak_agent.dataloaders.TB_eval.utils", "geak_agent.models", "geak_agent.models.Base"):
        stub(name)
    sys.modules["geak_agent.models.Base"].BaseModel = object
    # The packages' own __init__ import every model and agent there is.
    for package in ("geak_agent", "geak_agent.agents", "geak_agent.dataloaders"):
        module = types.ModuleType(package)
        module.__path__ = [os.path.join(checkout, *package.split("."))]
        sys.modules[package] = module
    from geak_agent.agents.GaAgent import GaAgent
    from geak_agent.dataloaders.TritonBench import TritonBench
    return GaAgent, TritonBench


def main(argv):
    if len(argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    checkout, root, iteration = argv[1:]
    jsonl, mem = f"{root}_{iteration}.jsonl", f"{root}_mem_{iteration}.json"
    agent_class, dataset_class = import_geak(checkout)
    dataset = dataset_class(None, None, None, None, None, None, None, result_path=jsonl)
    agent = agent_class.__new__(agent_class)
    agent.dataset, agent.memories = dataset, []
    agent.memory_init(mem, descendant_num=2)
    with open(jsonl, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    assert len(agent.memories) == len(records)
    for memory, record in zip(agent.memories, records):
        state = memory.ps
        assert (state.filename, state.label, state.instruction) == (record["filename"], record["label"], record["instruction"])
        assert state.solution == record.get("predict")
        # GEAK takes the first for the best.
        assert memory.perf_candidates == sorted(memory.perf_candidates, key=lambda one: one[1], reverse=True)
        if memory.perf_candidates:
            assert (record["predict"], record["speedup"]) == tuple(memory.perf_candidates[0][:2])
    with tempfile.TemporaryDirectory() as folder:
        again = os.path.join(folder, "mem.json")
        agent.write_memories(again)
        with open(mem, encoding="utf-8") as one, open(again, encoding="utf-8") as other:
            # As lists of pairs: the order counts.
            assert json.load(one, object_pairs_hook=list) == json.load(other, object_pairs_hook=list)
    print(f"{len(records)} cases: GEAK loads them, and writes the same again")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
