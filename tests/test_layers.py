from __future__ import annotations

import subprocess
import sys

import pytest

IMPORT_ALL = """
import importlib, pkgutil, sys
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        importlib.import_module(module.name)
print(sorted(name for name in sys.modules if name.partition(".")[0] in ("PySide6", "shiboken6", "pyqtgraph")))
"""


def loaded(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_everything_below_the_window_is_importable_without_qt():
    assert loaded(IMPORT_ALL, "robgui.core", "robgui.analyses", "robgui.report") == "[]"


@pytest.mark.parametrize("module", ["robgui", "robgui.cli", "robgui.analyses"])
def test_the_start_imports_neither_torch_nor_qt(module):
    code = (
        f"import sys, {module}; print([name for name in ('torch', 'PySide6', 'numpy') if name in"
        " sys.modules])"
    )
    assert loaded(code) == "[]"


def test_importing_robgui_does_not_even_import_pydantic():
    assert loaded("import sys, robgui; print('pydantic' in sys.modules)") == "False"


def test_a_workspace_opens_without_torch():
    assert loaded("import sys, robgui; robgui.Workspace; print('torch' in sys.modules)") == "False"
