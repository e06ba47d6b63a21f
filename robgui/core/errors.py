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
#: Longest first line of a foreign error that is shown, in characters.
_LONGEST = 300
#: Longest word (for example a name from a file) and longest sentence, in characters.
_LONGEST_WORD, _LONGEST_SENTENCE = 400, 1500


class Remedy(Enum):
    """What would help, worded once for the window and once for the command line."""

    OPEN_INPUTS = auto()
    MORE_INPUTS = auto()
    FEWER_INPUTS = auto()
    MORE_MODELS = auto()


class RobguiError(Exception):
    """An error whose message is written for the user and is shown as it is.

    Attributes:
        remedy: What would help; None if the sentence already says it.
    """

    def __init__(self, sentence: str, *, remedy: Remedy | None = None) -> None:
        super().__init__(_readable(sentence))
        self.remedy = remedy


def _readable(sentence: str) -> str:
    """The sentence with overlong words cut in the middle, and itself if still too long."""
    words = re.sub(rf"\S{{{_LONGEST_WORD + 1},}}", lambda word: _cut(word[0], 200), sentence)
    if len(words) > _LONGEST_SENTENCE:
        return _cut(words, _LONGEST_SENTENCE)
    return words


def _cut(text: str, kept: int) -> str:
    return f"{text[: kept // 2]}…{text[-(kept // 2) :]}"


class ModelError(RobguiError):
    """A model file cannot be read, or the model misbehaves."""


class TrustError(ModelError):
    """Reading the file would execute its code, and the user has not trusted it.

    Attributes:
        code: What it would run, if known.
    """

    def __init__(self, sentence: str, code: Code | None = None) -> None:
        super().__init__(sentence)
        self.code = code


class IncompleteModelError(ModelError):
    """The file lacks its architecture or the shape of one input; the user can supply them."""


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
    """The installed torch as a requirement, which makes pip keep it."""
    return f"torch=={version('torch').partition('+')[0]}"


class DataError(RobguiError):
    """A dataset cannot be read, or does not fit the model.

    Attributes:
        option: The option of open_dataset that would help, as ``name=value``; empty if none would.
    """

    def __init__(self, sentence: str, *, option: str = "", remedy: Remedy | None = None) -> None:
        super().__init__(sentence, remedy=remedy)
        self.option = option

    def at(self, where: object) -> DataError:
        """The same error with the place in front of its message."""
        return DataError(f"{where}: {self}", option=self.option, remedy=self.remedy)


class ParamsError(RobguiError):
    """A setting is unknown or out of range."""


class WorkspaceError(RobguiError):
    """A workspace file cannot be opened or written."""


def sentence(error: BaseException) -> str:
    """An error as one sentence for a person.

    An unforeseen error keeps its type and first line.
    """
    if isinstance(error, RobguiError):
        return str(error)
    lines = str(error).strip().splitlines()
    if lines:
        said = f": {lines[0][:_LONGEST].rstrip('.')}"
    else:
        said = ""
    return f"Unexpected {type(error).__name__}{said}."
