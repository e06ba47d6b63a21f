"""Changes one place of the code at a time and sees whether a test fails.

Run it as ``python -m tests.mutation``. A change that no test notices is a claim that no test
proves. A seed draws the changes: a comparison, an operator, a constant, an ``and`` or a ``not``.
Each is compiled in a process forked after torch was imported, which saves the import; the working
tree is never written. A long round goes in portions: ``--minutes`` ends one, ``--skip`` starts the
next where it ended.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: What is changed, and the tests that should notice: few, since a survivor costs all of them.
SUBJECTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "verdict": (
        ("robgui/core/verdict.py", "robgui/core/intervals.py"),
        (
            "tests/core/test_verdict.py",
            "tests/core/test_intervals.py",
            "tests/core/test_evidence.py",
            "tests/core/test_findings.py",
        ),
    ),
    "bounds": (("robgui/bounds",), ("tests/bounds",)),
    "noise": (
        ("robgui/analyses/last_particle/noise",),
        (
            "tests/analyses/last_particle/test_noise.py",
            "tests/analyses/last_particle/test_priors.py",
        ),
    ),
    "particles": (
        ("robgui/analyses/last_particle/estimates.py", "robgui/analyses/last_particle/particles"),
        (
            "tests/analyses/last_particle/test_estimate.py",
            "tests/analyses/last_particle/test_guided.py",
        ),
    ),
    "sampling": (
        ("robgui/analyses/last_particle/sampling",),
        (
            "tests/analyses/last_particle/test_importance.py",
            "tests/analyses/last_particle/test_chance.py",
        ),
    ),
    "exact": (
        ("robgui/analyses/last_particle/exact.py",),
        ("tests/analyses/last_particle/test_exact.py",),
    ),
}
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
}


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes:
        path: The file.
        line: Where in it.
        change: What stood there, and what stands there now.
        source: The file with the change.
    """

    path: Path
    line: int
    change: str
    source: str


def mutants(path: Path) -> Iterator[Mutant]:
    """Every change of one file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for place, node in enumerate(_changeable(tree)):
        other = copy.deepcopy(tree)
        twin = list(_changeable(other))[place]
        before = ast.unparse(twin)
        _change(twin)
        yield Mutant(path, node.lineno, f"{before} -> {ast.unparse(twin)}", ast.unparse(other))


def _changeable(tree: ast.Module) -> Iterator[ast.expr]:
    """Expressions that compute: no annotations, no texts."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.expr) and _may_change(node):
            yield node
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns", "decorator_list"):
                children = value if isinstance(value, list) else [value]
                waiting += [child for child in children if isinstance(child, ast.AST)]


def _may_change(node: ast.expr) -> bool:
    match node:
        case ast.Compare():
            return type(node.ops[0]) in _COMPARISONS
        case ast.BinOp():
            return type(node.op) in _OPERATORS and not _is_text(node)
        case ast.UnaryOp():
            return isinstance(node.op, ast.Not | ast.USub)
        case ast.Constant():
            return isinstance(node.value, int | float)
    return isinstance(node, ast.BoolOp)


def _is_text(node: ast.AST) -> bool:
    return any(
        isinstance(one, ast.JoinedStr)
        or (isinstance(one, ast.Constant) and isinstance(one.value, str))
        for one in ast.walk(node)
    )


def _change(node: ast.expr) -> None:
    match node:
        case ast.Compare():
            node.ops[0] = _COMPARISONS[type(node.ops[0])]()
        case ast.BinOp():
            node.op = _OPERATORS[type(node.op)]()
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.UnaryOp():
            node.op = ast.UAdd() if isinstance(node.op, ast.USub) else node.op
            if isinstance(node.op, ast.Not):
                node.operand = ast.UnaryOp(ast.Not(), node.operand)
        case ast.Constant(value=bool() as value):
            node.value = not value
        case ast.Constant(value=int() as value):
            node.value = value + 1
        case ast.Constant(value=float() as value):
            node.value = 1.5 * value + 0.01


def outcome(mutant: Mutant, tests: tuple[str, ...], seconds: float) -> str:
    """``killed``, ``timeout`` or ``survived``."""
    child = os.fork()
    if child == 0:
        _run(mutant, tests)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "survived" if os.waitstatus_to_exitcode(status) == 0 else "killed"
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timeout"


def _run(mutant: Mutant, tests: tuple[str, ...]) -> None:
    """The child's life: the file is compiled with the change, then the tests run."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    usual = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str):
        if Path(self.get_filename(fullname)) == mutant.path:
            return compile(mutant.source, str(mutant.path), "exec", dont_inherit=True)
        return usual(self, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    code = 1
    try:
        code = int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests]))
    finally:
        os._exit(code)


def main() -> None:
    """Prints what became of each change, and how many a test has noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subjects", nargs="*", choices=list(SUBJECTS), default=list(SUBJECTS))
    parser.add_argument("--sample", type=int, default=40, help="changes of each; 0 for all")
    parser.add_argument("--seconds", type=float, default=300.0, help="for the tests of one change")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0, help="changes that an earlier portion ran")
    parser.add_argument("--minutes", type=float, default=600.0, help="for one portion")
    given = parser.parse_args()
    for module in ("torch", "scipy.stats", "scipy.special", "cv2", "sklearn"):
        importlib.import_module(module)
    for subject in given.subjects:
        _report(subject, given)


def _report(subject: str, given: argparse.Namespace) -> None:
    places, tests = SUBJECTS[subject]
    files = [
        path
        for place in places
        for path in sorted(
            (ROOT / place).rglob("*.py") if (ROOT / place).is_dir() else [ROOT / place]
        )
    ]
    every = [mutant for path in files for mutant in mutants(path)]
    chosen = random.Random(given.seed).sample(every, min(given.sample or len(every), len(every)))
    found = {"killed": 0, "timeout": 0, "survived": 0}
    until = time.monotonic() + 60 * given.minutes
    for mutant in chosen[given.skip :]:
        if time.monotonic() > until:
            break
        became = outcome(mutant, tests, given.seconds)
        found[became] += 1
        if became == "survived":
            where = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
            print(f"survived {where}  {mutant.change[:160]}", flush=True)
    words = ", ".join(f"{count} {name}" for name, count in found.items())
    ran = sum(found.values())
    print(f"{subject}: {ran} after {given.skip}, of {len(every)} changes: {words}", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    os.chdir(ROOT)
    main()
