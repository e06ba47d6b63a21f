"""run: an analysis in one line; its result displays itself and converts to plain values."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.core.errors import RobguiError
from robgui.core.execution.notebook import Models, steps

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.workspace import Workspace
    from robgui.report.drawing import Plate
    from robgui.report.notebook import Exhibit


def run(
    name: str,
    classifier: Models,
    inputs: Any = None,
    *,
    workspace: Workspace | None = None,
    **params: Any,
) -> Any:
    """Runs the analysis ``name`` to its end and returns its last result.

    The result has the fields of its analysis, and what ``ShowableResult`` adds.

    Args:
        name: One of ``robgui.analyses()``.
        classifier: A Classifier, an ``nn.Module`` or the path of a model; several in a list for an
            analysis that compares models.
        inputs: A Dataset, the path of one, an array ``(n, *shape)`` or ``shape``, a list of
            paths, a DataLoader, or a torch or MAITE dataset.
        workspace: Where to keep the run; by default it is kept nowhere.
        **params: The settings of the analysis; texts as on the command line are understood, such
            as ``radii="0:0.4:9"``.
    """
    going = steps(name, classifier, inputs, workspace=workspace, **params)
    for _ in going:
        pass
    newest = going.execution.newest
    if newest is None:
        return None
    return shown(newest.result, going.execution)


class ShowableResult:
    """What every result of ``robgui.run`` can do beside having its fields."""

    _execution: Execution | None = None
    _when: float = 0.0
    _made: Exhibit | None = None

    @property
    def exhibit(self) -> Exhibit:
        """The result with its verdict, its views and where it comes from."""
        if self._made is None:
            from robgui.report.notebook import Exhibit

            if self._execution is None:
                name = type(self).__name__
                raise RobguiError(f"This {name} was changed by hand; run the analysis again.")
            # Results are frozen; the exhibit is made once, since views take time.
            object.__setattr__(self, "_made", Exhibit.of_execution(self._execution, self._when))
        assert self._made is not None
        return self._made

    def plot(self, **look: Any) -> Plate:
        """All its views in one matplotlib Figure; see ``Exhibit.plot``."""
        return self.exhibit.plot(**look)

    def save(self, path: str | Path, *, dark: bool = False) -> Path:
        """Writes its pictures; see ``Exhibit.save``."""
        return self.exhibit.save(path, dark=dark)

    def to_dict(self) -> dict[str, Any]:
        """Request, verdict, provenance and every number as plain values, as JSON takes them."""
        return self.exhibit.to_dict()

    def to_pandas(self, view: int | str = 0) -> Any:
        """The numbers of one of its views as a DataFrame, where pandas is installed."""
        return self.exhibit.to_pandas(view)

    def _repr_html_(self) -> str:
        return self.exhibit._repr_html_()

    def __repr__(self) -> str:
        if self._execution is None:
            return f"{type(self).__name__}(…)"
        return f"{type(self).__name__}: {self.exhibit!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied it is the plain result."""
        # 0 is the class made here, 1 ShowableResult, 2 the result's own class.
        plain = type(self).__mro__[2]
        fields = dataclasses.fields(plain)
        return _plain, (plain, {field.name: getattr(self, field.name) for field in fields})


def shown(result: Any, execution: Execution) -> Any:
    """The same result, of a class that is also ``ShowableResult``."""
    made = object.__new__(_shown_class(type(result)))
    for field in dataclasses.fields(result):
        object.__setattr__(made, field.name, getattr(result, field.name))
    object.__setattr__(made, "_execution", execution)
    object.__setattr__(made, "_when", time.time())
    return made


#: One class for each kind of result, so two results of it have the same.
_CLASSES: dict[type[Any], type[Any]] = {}


def _shown_class(plain: type[Any]) -> type[Any]:
    if plain not in _CLASSES:
        _CLASSES[plain] = type(plain.__name__, (ShowableResult, plain), {"__doc__": plain.__doc__})
    return _CLASSES[plain]


def _plain(kind: type[Any], values: dict[str, Any]) -> Any:
    made = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made
