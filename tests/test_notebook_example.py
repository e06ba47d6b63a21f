"""The example notebook runs from its first cell to its last, and what it shows can be shown."""

from __future__ import annotations

import ast
import json
import re

from robgui import resources

PATH = resources.path("notebooks", "first_look.ipynb")


def cells() -> list[str]:
    document = json.loads(PATH.read_text(encoding="utf-8"))
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in document["cells"]}) == len(document["cells"])
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]


def displayed(source: str, names: dict) -> object:
    """Runs a cell as a notebook does: the value of its last line is what it shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, PATH.name, "exec"), names)  # noqa: S102
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), PATH.name, "eval"), names)  # noqa: S307


def test_every_cell_of_the_example_runs_and_shows_something_short():
    names: dict = {}
    shown = [displayed(source, names) for source in cells()]
    pages = [value._repr_html_() for value in shown if hasattr(value, "_repr_html_")]
    assert len(pages) == 2 and all("data:image/png" in page for page in pages)
    assert all(len(repr(value)) < 2000 for value in shown)


def test_the_example_is_kept_without_outputs_and_without_paths_of_a_machine():
    text = PATH.read_text(encoding="utf-8")
    assert not re.search(r'"(execution_count)": \d|/home/|/root/|/tmp/', text)
    assert all(not cell.get("outputs") for cell in json.loads(text)["cells"])


def test_its_cells_are_the_documented_names_only():
    used = set(re.findall(r"robgui\.(\w+)", "\n".join(cells())))
    import robgui

    assert used <= {*robgui.__all__, "resources"}, used
