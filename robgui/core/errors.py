"""What can go wrong, as a small tree.

RobguiError                 one sentence for a person: what, where, what to do
├── ModelError              a model file that cannot be read, or a model that misbehaves
│   ├── TrustError          the file would execute code; the user has not said that they trust it
│   ├── IncompleteModelError  the file does not tell its architecture or the shape of an input
│   └── MissingExtraError   an optional package is needed (also for datasets)
├── DataError               a dataset that cannot be read or does not fit the model
├── ParamsError             a setting out of range or unknown
└── WorkspaceError          a workspace file that cannot be opened or written
"""

from __future__ import annotations

import re
import sys
from enum import Enum, auto
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robgui.core.trust.code import Code

#: Extras with a package that asks for one exact torch; pip would replace another one.
_ASKING_FOR_TORCH = ("timm",)
#: Characters of a foreign error's first line that are shown.
_LONGEST = 300
#: Characters of a word, such as a name that stands in a file, and of a whole sentence.
_LONGEST_WORD, _LONGEST_SENTENCE = 400, 1500


class Remedy(Enum):
    """What would help, where that is done differently in the window and on the command line:
    each has its own words for it.
    """

    OPEN_INPUTS = auto()
    MORE_INPUTS = auto()
    FEWER_INPUTS = auto()
    MORE_MODELS = auto()


class RobguiError(Exception):
    """An error whose message is written for the user and is shown as it is.

    Attributes:
        remedy: What would help; None where the sentence says it already.
    """

    def __init__(self, sentence: str, *, remedy: Remedy | None = None) -> None:
        super().__init__(_readable(sentence))
        self.remedy = remedy


def _readable(sentence: str) -> str:
    """The sentence with the middle of overlong words left out, and its own if it is still long."""
    words = re.sub(rf"\S{{{_LONGEST_WORD + 1},}}", lambda word: _cut(word[0], 200), sentence)
    if len(words) > _LONGEST_SENTENCE:
        return _cut(words, _LONGEST_SENTENCE)
    return words


def _cut(text: str, kept: int) -> str:
    return f"{text[: kept // 2]}…{text[-(kept // 2) :]}"


class ModelError(RobguiError):
    """A model file cannot be read, or the model misbehaves."""


class TrustError(ModelError):
    """Reading the file would execute code from it, and nobody has said that it is trusted.

    Attributes:
        code: What it would run, where that is known.
    """

    def __init__(self, sentence: str, code: Code | None = None) -> None:
        super().__init__(sentence)
        self.code = code


class IncompleteModelError(ModelError):
    """The file does not tell its architecture or the shape of one input; the user can."""


class MissingExtraError(ModelError):
    """The format needs an optional package that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        if getattr(sys, "frozen", False):
            lack = (
                "that this application does not carry; install robgui with pip and its extra"
                f" {extra} instead."
            )
        else:
            if extra in _ASKING_FOR_TORCH:
                kept = f" {_torch()}"
            else:
                kept = ""
            lack = f"that is not installed; install it with: pip install 'robgui[{extra}]'{kept}"
        super().__init__(f"{what} needs an optional package {lack}")
        self.extra = extra


def _torch() -> str:
    """The installed torch as a requirement, so that pip keeps it."""
    return f"torch=={version('torch').partition('+')[0]}"


class DataError(RobguiError):
    """A dataset cannot be read, or does not fit the model.

    Attributes:
        option: The option of open_dataset that would help, as ``name=value``; empty where none
            would.
    """

    def __init__(self, sentence: str, *, option: str = "", remedy: Remedy | None = None) -> None:
        super().__init__(sentence, remedy=remedy)
        self.option = option

    def at(self, where: object) -> DataError:
        """The same error with the place in front of it."""
        return DataError(f"{where}: {self}", option=self.option, remedy=self.remedy)


class ParamsError(RobguiError):
    """A setting is unknown or out of range."""


class WorkspaceError(RobguiError):
    """A workspace file cannot be opened or written."""


def sentence(error: BaseException) -> str:
    """An error as one sentence for a person.

    One that nobody foresaw keeps its type and first line.
    """
    if isinstance(error, RobguiError):
        return str(error)
    lines = str(error).strip().splitlines()
    if lines:
        said = f": {lines[0][:_LONGEST].rstrip('.')}"
    else:
        said = ""
    return f"Unexpected {type(error).__name__}{said}."
