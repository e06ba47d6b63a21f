"""API pages from docstrings: one Markdown page per module, read without importing anything."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def write(package: Path, target: Path) -> int:
    """Writes the pages of a package and an index; returns how many modules have a page."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    index = [f"# {package.name}", ""]
    for path in sorted(package.rglob("*.py")):
        name = _module(path.relative_to(package.parent))
        tree = ast.parse(path.read_text(encoding="utf-8"))
        entries = list(_entries(tree))
        if not entries:
            continue
        about = ast.get_docstring(tree) or ""
        page = "\n\n".join([f"# {name}", about, *entries])
        (target / f"{name}.md").write_text(f"{page}\n", encoding="utf-8")
        index.append(f"- [{name}]({name}.md): {about.partition(chr(10))[0]}")
    (target / "index.md").write_text("\n".join([*index, ""]), encoding="utf-8")
    return len(index) - 2


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def _entries(tree: ast.Module) -> Iterator[str]:
    """A section for each public class and function."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _class(node)
        elif isinstance(node, _Function) and not node.name.startswith("_"):
            yield _function(node, "##")


def _class(node: ast.ClassDef) -> Iterator[str]:
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    title = f"## class `{node.name}({bases})`" if bases else f"## class `{node.name}`"
    yield f"{title}\n\n{ast.get_docstring(node) or ''}".rstrip()
    for inner in node.body:
        documented = isinstance(inner, _Function) and ast.get_docstring(inner)
        if documented and not inner.name.startswith("_"):
            yield _function(inner, "###")


def _function(node: _Function, level: str) -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    signature = f"{node.name}({ast.unparse(node.args)}){returns}"
    return f"{level} `{signature}`\n\n{ast.get_docstring(node) or ''}".rstrip()
