"""GuardSuite: the file that says which input is which; read as untrusted."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from robgui.batch.guards.inputs import LARGEST, from_file
from robgui.core.dataset.classes import comparable_name
from robgui.core.dataset.matching import Model
from robgui.core.errors import DataError, ParamsError
from robgui.core.files import write_whole
from robgui.core.model.settings import Kind
from robgui.core.regular import beside, read_regular

M = TypeVar("M", bound=Model)

FILE = "suite.json"
INPUTS = "inputs"
#: Bytes and cases: a suite may come from anyone.
_LARGEST_SUITE = 50_000_000
_MOST_CASES = 10_000
_SAID = Field("", max_length=2_000)
#: The range of a model that has none of its own.
_UNIT = ((0.0,), (1.0,))

Role = Literal["finding", "original", "control"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class FoundOn(_Part):
    """A model that inputs were found on, by name and content."""

    name: str = Field(max_length=500)
    fingerprint: str = Field(pattern="^[0-9a-f]{16}$")


class Case(_Part):
    """One input and the class that is right for it.

    Attributes:
        name: What to call it; its file is called so too.
        role: A ``finding`` that the model had wrong; the unchanged ``original`` of one, or a
            ``control`` drawn from the same data, both of which it had right.
        file: Beside ``suite.json``: PNG where that is exact, else a NumPy array.
        sha256: Of that file.
        expected: The class that is right.
        given: What the model answered that it was found on.
        by: Who says what is right: a ``label`` of the data, or the ``model`` by its answer to the
            unchanged input.
        of: The finding that an original belongs to.
        model: The model it was found on, by its fingerprint.
        source: Where the input comes from: its name in its data.
        title: What was found, one line.
        kind: What sort of failure.
        analysis: What found it.
        severity: From 0 to 1.
        note: What the user wrote.
    """

    # It becomes the name of a file and of a test: nothing in it leads out of the folder.
    name: str = Field(pattern="^[a-z0-9][a-z0-9-]{0,99}$")
    role: Role
    file: str = Field(max_length=200)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    expected: str = Field(max_length=500)
    given: str = Field(max_length=500)
    by: Literal["label", "model"]
    of: str = Field("", max_length=100)
    model: str
    source: str = _SAID
    title: str = _SAID
    kind: str = _SAID
    analysis: str = _SAID
    severity: float = Field(0.0, ge=0, le=1)
    note: str = Field("", max_length=100_000)

    def __str__(self) -> str:
        return self.name


class GuardSuite(_Part):
    """A guard suite.

    Attributes:
        format: Tells the file from every other JSON document.
        version: Of this format.
        robgui: The version that wrote it.
        kind: What one input is.
        shape: Of one input.
        labels: The classes by name, in the order of the model that it was made with.
        low: Lowest value of each column in its own units; images have none.
        high: Highest value.
        models: The models that the inputs were found on.
        cases: Every input, findings first.
        folder: Where the suite lies.
    """

    format: Literal["robgui guard suite"] = "robgui guard suite"
    version: Literal[1] = 1
    robgui: str = Field("", max_length=100)
    kind: Kind
    shape: tuple[int, ...] = Field(min_length=1, max_length=8)
    labels: tuple[str, ...] = Field(min_length=2, max_length=100_000)
    low: tuple[float, ...] = (0.0,)
    high: tuple[float, ...] = (1.0,)
    models: tuple[FoundOn, ...] = Field(min_length=1, max_length=1_000)
    cases: tuple[Case, ...] = Field(min_length=1, max_length=_MOST_CASES)
    folder: Path = Field(Path(), exclude=True)

    @model_validator(mode="after")
    def _whole(self) -> GuardSuite:
        names = [case.name for case in self.cases]
        known = {model.fingerprint for model in self.models}
        if len(set(names)) != len(names):
            raise ValueError("two cases have the same name")
        if missing := [case.name for case in self.cases if case.model not in known]:
            raise ValueError(f"{missing[0]} names a model that is not listed")
        if missing := [case.name for case in self.cases if case.expected not in self.labels]:
            raise ValueError(f"{missing[0]} expects a class that is not listed")
        if missing := [one.name for one in self.cases if one.of and one.of not in names]:
            raise ValueError(f"{missing[0]} belongs to a finding that is not listed")
        return self

    @property
    def findings(self) -> tuple[Case, ...]:
        """What the models had wrong."""
        return tuple(case for case in self.cases if case.role == "finding")

    @property
    def guarded(self) -> tuple[Case, ...]:
        """What the models had right: originals and controls."""
        return tuple(case for case in self.cases if case.role != "finding")

    def input(self, case: Case) -> np.ndarray:
        """The input of a case as it was found: float32 in [0, 1].

        Raises:
            DataError: Its file is missing, was changed, lies elsewhere, or has another shape.
        """
        try:
            content = read_regular(beside(self.folder, case.file), LARGEST)
        except OSError as error:
            raise DataError(
                f"{self.folder / FILE}: the input {case.file} of {case.name} cannot be read"
                f" ({error.strerror}); restore the folder as it was written."
            ) from error
        if hashlib.sha256(content).hexdigest() != case.sha256:
            raise DataError(
                f"{self.folder / FILE}: the input {case.file} of {case.name} is not the one that"
                " was found; restore the folder as it was written."
            )
        values = from_file(case.file, content)
        if values.shape != self.shape:
            raise DataError(
                f"{self.folder / FILE}: the input {case.file} of {case.name} has shape"
                f" {values.shape}, not {self.shape}; write the guard suite again."
            )
        return values

    def fitted(self, model: M) -> M:
        """The model with the suite's class names and value ranges if it has none.

        Raises:
            ParamsError: It cannot be asked about these inputs, or lacks one of the classes.
        """
        if model.kind != self.kind or tuple(model.shape) != self.shape:
            raise ParamsError(
                f"{model.name} takes {model.kind} inputs of shape {tuple(model.shape)}, but this"
                f" guard suite holds {self.kind} inputs of shape {self.shape}; check a model of"
                " that shape, or make a suite of findings on this one."
            )
        settings = model.settings
        # A new model often brings no class names; the suite's fit if the number of classes does.
        if not settings.labels and model.classes == len(self.labels):
            settings = settings.change(labels=self.labels)
        if self.kind != "image" and (settings.low, settings.high) == _UNIT:
            settings = settings.change(low=self.low, high=self.high)
        if settings == model.settings:
            fitted: M = model
        else:
            fitted = model.with_settings(settings)
        for expected in dict.fromkeys(case.expected for case in self.cases):
            self.place_of(expected, fitted)
        return fitted

    def input_for(self, case: Case, model: Model) -> np.ndarray:
        """The input as a fitted ``model`` takes it, ``(1, *shape)``; columns keep their units."""
        x = self.input(case)[None]
        ranges = (model.settings.low, model.settings.high)
        if self.kind == "image" or ranges == (self.low, self.high):
            return x
        low, high = (np.asarray(ends, dtype=np.float32) for ends in (self.low, self.high))
        # Decoded with the suite's ranges and encoded with the model's; rounding may leave [0, 1].
        return np.asarray(np.clip(model.encode(low + x * (high - low)), 0, 1), dtype=np.float32)

    def place_of(self, expected: str, model: Model) -> int:
        """Which output of a fitted ``model`` is the class called ``expected``."""
        for place, label in enumerate(model.labels):
            if comparable_name(label) == comparable_name(expected):
                return place
        raise ParamsError(
            f"{model.name} has no class “{expected}”; name its classes in the order of its outputs"
            " (--names FILE)."
        )


def guard_suite(place: str | Path) -> GuardSuite:
    """Reads a guard suite: its folder, or the ``suite.json`` in it. No code in it runs.

    Raises:
        ParamsError: There is none, or it is malformed; the sentence says where.
    """
    given = Path(place)
    if given.is_dir():
        path = given / FILE
    else:
        path = given
    try:
        document = json.loads(read_regular(path, _LARGEST_SUITE).decode("utf-8-sig"))
    except OSError as error:
        raise ParamsError(
            f"{path}: there is no guard suite to read ({error.strerror}); name the folder that"
            " 'robgui guard' wrote."
        ) from error
    except (ValueError, RecursionError) as error:
        raise ParamsError(f"{path}: this is no JSON ({error}); name a guard suite.") from error
    if not isinstance(document, dict) or document.get("format") != "robgui guard suite":
        raise ParamsError(f"{path}: this is no guard suite; name the folder 'robgui guard' wrote.")
    try:
        return GuardSuite.model_validate({**document, "folder": path.parent})
    except ValidationError as error:
        detail = error.errors()[0]
        where = ".".join(str(part) for part in detail["loc"]) or "the whole"
        said = str(detail["msg"]).removeprefix("Value error, ")
        raise ParamsError(
            f"{path}: {where}: {said}; write the guard suite again or correct the file."
        ) from error


def write_suite(suite: GuardSuite, contents: dict[str, bytes], test_file: str) -> None:
    """Writes ``suite.json``, the inputs by their names, and the pytest file into its folder."""
    folder = suite.folder
    document: dict[str, Any] = suite.model_dump(mode="json")
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    try:
        (folder / INPUTS).mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            write_whole(folder / name, content)
        write_whole(folder / "test_findings.py", test_file.encode())
        # Last: a folder without it is not yet a suite, so a full disk leaves no half one behind.
        write_whole(folder / FILE, f"{text}\n".encode())
    except OSError as error:
        raise ParamsError(
            f"The guard suite cannot be written to {folder} ({error.strerror}); choose another"
            " folder."
        ) from error
