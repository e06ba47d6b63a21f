"""Suite: models, datasets, analyses and grids of settings in one TOML file."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator

from robgui import resources
from robgui.core.errors import ParamsError
from robgui.core.regular import beside, is_there, read_regular
from robgui.core.toml import parse_toml

P = TypeVar("P", bound=PurePath)

#: Prefix of paths to demo files.
DEMO = "demo:"
#: Largest suite file: it is written by hand, or by a script.
_LARGEST = 10_000_000


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class _Choice(_Table):
    """Which inputs: by number (``index``) or by query (``select``); all by default."""

    index: str = ""
    select: str = ""

    @field_validator("index", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        # index = 3 and index = [0, 4] read as on the command line.
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, list):
            return ",".join(map(str, value))
        return value


class ModelTable(_Table):
    """One or more models.

    Attributes:
        path: May hold ``*`` and ``?``.
        trust: Ignored: a file cannot vouch for the code it names. Older suites may contain it.
        datasets: Patterns of file names; only these datasets are for these models.
        settings: The fields of the side file.
    """

    path: str
    trust: bool = False
    datasets: tuple[str, ...] = ("*",)
    settings: dict[str, JsonValue] = Field(default_factory=dict)


class DatasetTable(_Choice):
    """One or more datasets, and which of their inputs.

    ``options`` say what the files do not.
    """

    path: str
    options: dict[str, JsonValue] = Field(default_factory=dict)


class AnalysisTable(_Choice):
    """One analysis on every model and dataset that fit.

    Attributes:
        models: Patterns of file names; only these models.
        datasets: The same for datasets.
        index: Instead of the inputs that the dataset's own table names.
        params: Settings that are the same in every request.
        grid: Settings with a list of values each; every combination is one request.
        shards: Into how many parts one request is split.
    """

    name: str
    models: tuple[str, ...] = ("*",)
    datasets: tuple[str, ...] = ("*",)
    params: dict[str, JsonValue] = Field(default_factory=dict)
    grid: dict[str, list[JsonValue]] = Field(default_factory=dict)
    shards: int = Field(1, ge=1, le=10_000)

    @field_validator("grid")
    @classmethod
    def _not_empty(cls, grid: dict[str, list[JsonValue]]) -> dict[str, list[JsonValue]]:
        for name, values in grid.items():
            if not values:
                raise ValueError(f"{name} has an empty list; give at least one value")
        return grid


class Suite(_Table):
    """A suite file.

    Attributes:
        workspace: Where the runs are kept, relative to the file.
        device: ``cpu`` or ``cuda``; empty takes CUDA if there is one.
        fail_on: Conditions under which the suite counts as failed, see Gate.
        path: The file itself.
    """

    models: tuple[ModelTable, ...] = Field(min_length=1)
    datasets: tuple[DatasetTable, ...] = ()
    analyses: tuple[AnalysisTable, ...] = Field(min_length=1)
    workspace: str = ""
    device: str = ""
    autocast: bool = False
    fail_on: tuple[str, ...] = ()
    path: Path = Field(Path(), exclude=True)

    @property
    def runs(self) -> Path:
        """The workspace of its runs.

        ParamsError unless it lies beside the suite, because somebody else may have written the
        file.
        """
        if not self.workspace:
            return Path(f"{self.path.stem}.robgui")
        try:
            return beside(self.path.parent, self.workspace)
        except OSError as error:
            raise ParamsError(
                f"{self.path}: workspace {self.workspace!r} does not lie beside the suite; name"
                " another place with --workspace."
            ) from error

    def files(self, pattern: str, table: str) -> list[Path]:
        """The files that match ``pattern``, in name order.

        ParamsError names the table if there are none.
        """
        folder = self.path.parent
        if pattern.startswith(DEMO):
            folder, pattern = resources.path("demo"), pattern.removeprefix(DEMO)
        folder, pattern = without_anchor(folder, _whole(pattern))
        if not any(sign in pattern for sign in "*?["):
            if is_there(folder / pattern):
                found = [folder / pattern]
            else:
                found = []
        else:
            found = _matches(folder, pattern)
        if not found:
            raise ParamsError(
                f"{self.path}: {table} path: there is no file {str(folder / pattern)!r}; correct"
                " the path."
            )
        return found


def _matches(folder: Path, pattern: str) -> list[Path]:
    """The files that match a pattern; empty if the system refuses it."""
    try:
        return sorted(
            path
            for path in folder.glob(pattern)
            # Side files lie beside their models, and "*" would take them for models.
            if path.suffix != ".toml" and not path.name.startswith(".")
        )
    except (OSError, ValueError, NotImplementedError):
        return []


def without_anchor(folder: P, pattern: P) -> tuple[P, str]:
    """Where a pattern starts, and the rest of it: ``glob`` refuses one with a drive or a root."""
    return folder / pattern.anchor, str(pattern.relative_to(pattern.anchor))


def _whole(pattern: str) -> Path:
    """The pattern with a leading ``~`` expanded."""
    try:
        return Path(pattern).expanduser()
    except RuntimeError:  # There is no such user.
        return Path(pattern)


def suite_path(text: str) -> Path:
    """The file that ``text`` names; ``demo:suite.toml`` is one of the demo."""
    if text.startswith(DEMO):
        return resources.path("demo", text.removeprefix(DEMO))
    return Path(text)


def read_suite(path: str | Path) -> Suite:
    """Reads a suite file; a ParamsError names the file, the table and the field."""
    path = Path(path)
    try:
        values = parse_toml(read_regular(path, _LARGEST))
    except OSError as error:
        raise ParamsError(
            f"{path}: the suite cannot be read ({error.strerror}); name a TOML file."
        ) from error
    except ValueError as error:
        raise ParamsError(f"{path}: this is no TOML ({error}); correct the file.") from error
    try:
        return Suite.model_validate({**values, "path": path.absolute()})
    except ValidationError as error:
        raise ParamsError(f"{path}: {_sentence(error)}.") from error


def _sentence(error: ValidationError) -> str:
    detail = error.errors()[0]
    where = _place(detail["loc"])
    if detail["type"] == "extra_forbidden":
        return (
            f"{where}: there is no such field; the fields are: {', '.join(_fields(detail['loc']))}"
        )
    if detail["type"] == "missing":
        return f"{where} is missing; add it"
    if detail["type"] == "too_short":
        return f"{where}: at least one table [[{detail['loc'][0]}]] is needed; add it"
    return f"{where}: {str(detail['msg']).removeprefix('Value error, ')}"


def _place(loc: tuple[int | str, ...]) -> str:
    """``[[analyses]] 2, grid.seed``; tables are counted from 1."""
    if len(loc) > 1 and isinstance(loc[1], int):
        field = ".".join(str(part) for part in loc[2:])
        table = f"[[{loc[0]}]] {loc[1] + 1}"
        if field:
            return f"{table}, {field}"
        return table
    return ".".join(str(part) for part in loc)


def _fields(loc: tuple[int | str, ...]) -> list[str]:
    tables: dict[int | str, type[_Table]] = {
        "models": ModelTable,
        "datasets": DatasetTable,
        "analyses": AnalysisTable,
    }
    if len(loc) > 1:
        table = tables.get(loc[0], Suite)
    else:
        table = Suite
    return [name for name in table.model_fields if name != "path" or table is not Suite]
