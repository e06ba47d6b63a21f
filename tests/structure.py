"""Counts how the code reads: ``python -m tests.structure`` prints robgui beside its models.

``--worst`` lists what lies over each limit. The models' figures were counted the same way over
their own files.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST_LINE, LONGEST_FUNCTION, LONGEST_FILE, LARGEST_FOLDER = 100, 60, 350, 20
#: Private by their spelling: some public by their documentation (``_repr_html_`` by IPython's),
#: others of torch, argparse and scikit-learn, which a reader of their objects cannot do without.
_NOT_OURS = frozenset(
    (
        *("_replace", "_asdict", "_fields", "_make", "_exit", "_MEIPASS"),
        *("_repr_html_", "_schema", "_type", "_actions", "_y", "_tree"),
    )
)

MODELS = {
    "": ("pymmcore-gui", "superqt", "foolbox", "torchmetrics", "napari"),
    "files / lines": (
        "32 / 4.3k",
        "49 / 8.9k",
        "56 / 10.1k",
        "350 / 81.7k",
        "557 / 122.7k",
    ),
    "function median / p90 / p99 / max": (
        "7 / 27 / 92 / 104",
        "5 / 26 / 58 / 112",
        "9 / 52 / 193 / 292",
        "17 / 54 / 111 / 330",
        "8 / 38 / 97 / 254",
    ),
    "file median / p90 / max": (
        "109 / 278 / 574",
        "103 / 483 / 886",
        "110 / 275 / 2475",
        "160 / 507 / 1312",
        "114 / 473 / 3357",
    ),
    "comment lines %": ("6.4", "3.9", "4.6", "6.3", "4.2"),
    "conditional expressions per 1,000 lines (nested)": (
        "1.9 (0)",
        "6.3 (0)",
        "0.8 (0)",
        "4.3 (3)",
        "2.3 (0)",
    ),
    "lines over 100 characters %": ("0.5", "0", "0.3", "7.7", "0.3"),
}


@dataclass(frozen=True)
class Source:
    """One file of Python.

    Attributes:
        path: Relative to the project's root.
        text: What is in it.
    """

    path: Path
    text: str

    @property
    def module(self) -> str:
        """The dotted name it is imported by."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()


@cache
def _source(path: Path) -> Source:
    """Each file is read and parsed once."""
    return Source(path.relative_to(ROOT), path.read_text(encoding="utf-8"))


def sources(*folders: str) -> list[Source]:
    """Every Python file below these folders of the project."""
    return [_source(path) for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def functions(code: Sequence[Source]) -> Iterator[tuple[int, str]]:
    """Lines of each function and where it begins; decorators are not counted."""
    for source in code:
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                yield length, f"{source.path}:{node.lineno} {node.name}"


def conditionals(code: Sequence[Source]) -> Iterator[tuple[bool, str]]:
    """Whether each conditional expression holds another one, and where it is."""
    for source in code:
        for node in source.nodes:
            if isinstance(node, ast.IfExp):
                inside = (node.body, node.orelse, node.test)
                nested = any(isinstance(part, ast.IfExp) for part in inside)
                yield nested, f"{source.path}:{node.lineno}"


def long_lines(code: Sequence[Source]) -> list[str]:
    """Where lines have more than 100 characters."""
    return [
        f"{source.path}:{number}"
        for source in code
        for number, line in enumerate(source.lines, start=1)
        if len(line) > LONGEST_LINE
    ]


def comment_lines(code: Sequence[Source]) -> int:
    """How many lines are nothing but a comment."""
    return sum(line.lstrip().startswith("#") for source in code for line in source.lines)


def repeated_classes(code: Sequence[Source]) -> dict[str, list[str]]:
    """Public class names that more than one module defines, and where."""
    found: dict[str, list[str]] = defaultdict(list)
    for source in code:
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(f"{source.path}:{node.lineno}")
    return {name: places for name, places in found.items() if len(places) > 1}


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in _NOT_OURS


def _is_own(node: ast.expr) -> bool:
    """Whether a method speaks of its own object."""
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


@cache
def _own_names(source: Source) -> set[str]:
    """Names that a module defines or gives to its own objects."""
    found: set[str] = set()
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and _is_own(node.value):
            found.add(node.attr)
    return found


def private_accesses(code: Sequence[Source]) -> list[str]:
    """Where a module reaches for a private name that another module of ours defines."""
    own = {source.module: _own_names(source) for source in code}
    ours = {name for names in own.values() for name in names if _is_private(name)}
    found = []
    for source in code:
        foreign = ours - own[source.module]
        for line, name in _reached_for(source):
            if name in foreign:
                found.append(f"{source.path}:{line} {name}")
    return found


def _reached_for(source: Source) -> Iterator[tuple[int, str]]:
    """Private names that a module imports, or reads from what is not its own object."""
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, each.name) for each in node.names if _is_private(each.name))
        elif isinstance(node, ast.Attribute) and _is_private(node.attr):
            if not _is_own(node.value):
                yield node.lineno, node.attr
        elif isinstance(node, ast.Call) and _sets_by_name(node):
            for name in node.args[:2]:
                if isinstance(name, ast.Constant):
                    words = str(name.value).split(".")
                    yield from ((node.lineno, word) for word in words if _is_private(word))


def _sets_by_name(node: ast.Call) -> bool:
    """Whether a call reads or replaces an attribute by its name, alone or with its module's, as
    monkeypatch does.
    """
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in ("setattr", "getattr", "delattr", "patch")


def large_folders(*folders: str) -> dict[str, int]:
    """Folders with more than 20 files, whatever their kind, and how many they have."""
    counts: dict[str, int] = defaultdict(int)
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                counts[str(path.parent.relative_to(ROOT))] += 1
    return {name: count for name, count in counts.items() if count > LARGEST_FOLDER}


def rings(code: Sequence[Source]) -> list[list[str]]:
    """Groups of modules that import each other in a ring while they are loaded."""
    names = {source.module for source in code}
    graph = {source.module: set(_imported(source, names)) for source in code}
    return [sorted(group) for group in _strongly_connected(graph) if len(group) > 1]


def _imported(source: Source, names: set[str]) -> Iterator[str]:
    """Our own modules that a module imports when it is loaded."""
    waiting: list[ast.stmt] = list(source.tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                whole = f"{node.module}.{each.name}"
                found = whole if whole in names else node.module
                if found in names:
                    yield found
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef):
            waiting.extend(
                child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)
            )


def _strongly_connected(graph: dict[str, set[str]]) -> Iterator[list[str]]:
    """Tarjan's algorithm ("Depth-first search and linear graph algorithms", 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = []
            while not group or group[-1] != node:
                group.append(stack.pop())
            groups.append(group)

    for node in graph:
        if node not in index:
            visit(node)
    yield from groups


def _quantiles(values: Sequence[int], *shares: float) -> str:
    ordered = sorted(values)
    picked = [ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in shares]
    return " / ".join(str(value) for value in (*picked, ordered[-1]))


def table() -> dict[str, str]:
    """What is counted and what robgui has of it."""
    code = sources("robgui")
    everything = sources("robgui", "tests", "packaging")
    lines = sum(len(source.lines) for source in code)
    nested = [inside for inside, _ in conditionals(code)]
    lengths = [length for length, _ in functions(code)]
    return {
        "": "robgui",
        "files / lines": f"{len(code)} / {lines / 1000:.1f}k",
        "function median / p90 / p99 / max": _quantiles(lengths, 0.5, 0.9, 0.99),
        "file median / p90 / max": _quantiles([len(each.lines) for each in code], 0.5, 0.9),
        "comment lines %": f"{100 * comment_lines(code) / lines:.1f}",
        "conditional expressions per 1,000 lines (nested)": (
            f"{1000 * len(nested) / lines:.1f} ({sum(nested)})"
        ),
        "lines over 100 characters %": f"{100 * len(long_lines(code)) / lines:.1f}",
        "functions over 60 lines": str(sum(length > LONGEST_FUNCTION for length in lengths)),
        "files over 350 lines": str(sum(len(each.lines) > LONGEST_FILE for each in code)),
        "folders over 20 files": str(len(large_folders("robgui", "tests", "packaging"))),
        "public class names used twice": str(len(repeated_classes(code))),
        "private names reached for": str(len(private_accesses(everything))),
        "import rings": str(len(rings(code))),
    }


def worst() -> Iterator[str]:
    """One line for each place that lies over a limit."""
    code = sources("robgui")
    for length, place in sorted(functions(code), reverse=True):
        if length > LONGEST_FUNCTION:
            yield f"function of {length} lines: {place}"
    for source in sorted(code, key=lambda each: -len(each.lines)):
        if len(source.lines) > LONGEST_FILE:
            yield f"file of {len(source.lines)} lines: {source.path}"
    for name, count in large_folders("robgui", "tests", "packaging").items():
        yield f"folder of {count} files: {name}"
    for name, places in repeated_classes(code).items():
        yield f"class {name}: {', '.join(places)}"
    for place in private_accesses(sources("robgui", "tests", "packaging")):
        yield f"private: {place}"
    for ring in rings(code):
        yield f"ring: {' '.join(ring)}"
    yield from dense_folders(code)


def dense_folders(code: Sequence[Source]) -> Iterator[str]:
    """Folders with more than 10 conditional expressions per 1,000 lines, the densest first."""
    lines: dict[str, int] = defaultdict(int)
    found: dict[str, int] = defaultdict(int)
    for source in code:
        folder = str(source.path.parent)
        lines[folder] += len(source.lines)
        found[folder] += sum(1 for _ in conditionals([source]))
    share = {folder: 1000 * found[folder] / lines[folder] for folder in lines if lines[folder]}
    for folder in sorted(share, key=lambda each: -share[each]):
        if share[folder] > 10:
            yield f"{share[folder]:.1f} conditional expressions per 1,000 lines: {folder}"


def main(arguments: Sequence[str]) -> None:
    """Prints the table, or what lies over a limit."""
    if "--worst" in arguments:
        print("\n".join(worst()))
        return
    for name, ours in table().items():
        print(f"| {name} | {ours} | {' | '.join(MODELS.get(name, ()))}")


if __name__ == "__main__":
    main(sys.argv[1:])
