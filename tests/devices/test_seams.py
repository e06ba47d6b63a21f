"""What only a GPU has is named in one module; engines name none of it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "robgui"
SEAMS = ROOT / "core" / "devices.py"
#: Words of torch that mean one kind of device, and torch's own ways to make the host wait for one.
NAMES = {
    "cuda",
    "mps",
    "xpu",
    "backends",
    "autocast",
    "pin_memory",
    "record_stream",
    "synchronize",
    "empty_cache",
    "mem_get_info",
    "CUDAGraph",
    "set_float32_matmul_precision",
}


def _named(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and _of_torch(node):
            found.add(node.attr)
        if isinstance(node, ast.keyword) and node.arg in ("pin_memory", "non_blocking"):
            found.add(node.arg)
        if isinstance(node, ast.Constant) and node.value in ("cuda", "cuda:0", "mps"):
            found.add(node.value)
    return found & (NAMES | {"non_blocking", "cuda:0"})


def _of_torch(node: ast.Attribute) -> bool:
    """Attributes of the module torch, and methods with a name of their own."""
    owner: ast.AST = node.value
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    return (isinstance(owner, ast.Name) and owner.id == "torch") or node.attr in {
        "pin_memory",
        "record_stream",
        "empty_cache",
        "mem_get_info",
    }


@pytest.mark.parametrize("package", ["analyses", "bounds", "reproduce", "core"])
def test_only_the_seams_name_what_one_kind_of_device_has(package):
    files = [path for path in (ROOT / package).rglob("*.py") if path != SEAMS]
    told = {str(path.relative_to(ROOT)): _named(path) for path in files}
    told = {path: names for path, names in told.items() if names}
    # a device that cannot compute in double precision, by its name
    told.pop("bounds/recorder.py", None)
    # keywords that a model in a file may carry, which are refused there
    told.pop("core/loading/exported/indexing.py", None)
    assert told == {}


def test_the_seams_themselves_are_seen_by_this_test():
    assert {"cuda", "autocast", "backends", "pin_memory"} <= _named(SEAMS)
