"""What opening a file would run, in plain words; nothing is run to find out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from robgui.core.text.words import count

if TYPE_CHECKING:
    from robgui.core.trust.code import Code

_RUNS_ALL = "can run any code"
_PROGRAMS = "can start programs and change files"
_NETWORK = "can talk to other computers"
#: What the modules and functions that no model needs can do.
_POWERS = {
    "os": _PROGRAMS,
    "posix": _PROGRAMS,
    "nt": _PROGRAMS,
    "subprocess": _PROGRAMS,
    "pty": _PROGRAMS,
    "shutil": "can copy and delete files",
    "pathlib": "can read and change files",
    "tempfile": "can write files",
    "socket": _NETWORK,
    "ssl": _NETWORK,
    "urllib": _NETWORK,
    "http": _NETWORK,
    "ftplib": _NETWORK,
    "smtplib": _NETWORK,
    "requests": _NETWORK,
    "webbrowser": _NETWORK,
    "ctypes": _RUNS_ALL,
    "importlib": _RUNS_ALL,
    "runpy": _RUNS_ALL,
    "code": _RUNS_ALL,
    "sys": _RUNS_ALL,
    "pickle": _RUNS_ALL,
    "marshal": _RUNS_ALL,
    "torch.hub": "can fetch code from the network and run it",
    "builtins.eval": _RUNS_ALL,
    "builtins.exec": _RUNS_ALL,
    "builtins.compile": _RUNS_ALL,
    "builtins.__import__": _RUNS_ALL,
    "builtins.getattr": "can reach any code",
    "builtins.open": "can read and change files",
    "__builtin__": _RUNS_ALL,
}
#: Libraries that files of models usually name.
_LIBRARIES = {
    "torch": "PyTorch",
    "torchvision": "torchvision",
    "timm": "timm",
    "transformers": "Transformers",
    "pytorch_lightning": "Lightning",
    "lightning": "Lightning",
    "sklearn": "scikit-learn",
    "numpy": "NumPy",
    "scipy": "SciPy",
    "joblib": "joblib",
    "pandas": "pandas",
    "xgboost": "XGBoost",
    "lightgbm": "LightGBM",
    "keras": "Keras",
    "tensorflow": "TensorFlow",
}
#: Names of one library that are written out.
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a file would run, for a person who decides.

    Attributes:
        what: What the file is, and why opening it runs code; empty if only the refusal says it.
        alarming: What no model needs, a line each.
        usual: All else it would run, a line each.
    """

    what: str
    alarming: tuple[str, ...]
    usual: tuple[str, ...]


def meaning_of(code: Code) -> Meaning:
    """The code of a model in plain words."""
    alarming = [f"{name}: {power}" for name in code.imports if (power := power_of(name))]
    rest = [name for name in code.imports if not power_of(name)]
    usual = [f"the Python file {source.path.name}, all of it" for source in code.sources]
    if code.architecture:
        call = code.architecture.rpartition("/")[2]
        usual.append(f"the call {call}, which builds the network")
    usual += _by_library(rest)
    if not code.listed:
        usual.append("more that cannot be listed without running it")
    return Meaning(_what(code), tuple(alarming), tuple(usual))


def power_of(name: str) -> str:
    """What a dotted name can do that no model needs; empty for any other name."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        if power := _POWERS.get(".".join(parts[:length])):
            return power
    return ""


def _what(code: Code) -> str:
    name = code.model.name
    if code.imports or not code.listed:
        return (
            f"{name} is a Python pickle: not plain numbers, but instructions that Python carries"
            " out while it reads them."
        )
    if code.architecture:
        where = Path(code.architecture.partition(":")[0]).name
        return f"{name} holds weights only. {where} builds their network, so Python would run it."
    return ""


def _by_library(names: Iterable[str]) -> list[str]:
    """One line per library with its first names, then one for names of no known library."""
    groups: dict[str, list[str]] = {}
    for name in names:
        library = _LIBRARIES.get(name.partition(".")[0], "")
        groups.setdefault(library, []).append(name.rpartition(".")[2] if library else name)
    lines = []
    for library, found in sorted(groups.items(), key=lambda pair: pair[0] == ""):
        more = ", …" if len(found) > _SHOWN else ""
        shown = ", ".join(found[:_SHOWN]) + more
        if library:
            lines.append(f"{count(len(found), 'part')} of {library}: {shown}")
        else:
            lines.append(f"{count(len(found), 'name')} of no library robgui knows: {shown}")
    return lines
