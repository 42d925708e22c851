"""MindSpore. There is no capture yet: its exported graphs are made of its own primitives, not of ATen operations."""

from kerf.graph_build import Refused


def refusal():
    return Refused("mindspore", "kerf captures torch and numpy tasks; a mindspore task needs a model, or the same "
                   "computation written with torch or numpy")
