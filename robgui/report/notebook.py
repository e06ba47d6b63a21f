"""show: runs an analysis and displays its outcome in a notebook, in words and pictures."""

from __future__ import annotations

import base64
import sys
import time
from dataclasses import dataclass
from functools import cached_property
from html import escape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.core.codec import readable
from robgui.core.errors import RobguiError
from robgui.core.execution.inline import Steps
from robgui.core.execution.notebook import Models, steps
from robgui.core.execution.registry import find
from robgui.core.experiment import Experiment, experiment_of
from robgui.core.verdict import Verdict
from robgui.core.view import Film, View, status_ink
from robgui.core.workspace import Workspace
from robgui.report.drawing import WIDTH, draw, save, save_film, to_csv
from robgui.report.drawing.figure import KINDS
from robgui.report.drawing.film import ENDINGS
from robgui.report.origin import experiment_of_run, provenance, provenance_of, subject
from robgui.report.report_content import chapter, in_words, number_of, views

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.request import Request
    from robgui.report.drawing import Plate


@dataclass(frozen=True)
class Exhibit:
    """A result with what it says and looks like; as the last line of a cell it shows itself.

    Attributes:
        request: What was run.
        result: What came of it, as ``robgui.run`` returns it.
        verdict: What it says.
        views: What it looks like; the first is the picture of the analysis.
        provenance: One line that says where it comes from.
        experiment: The run, as the files of its pictures carry it.
    """

    request: Request
    result: Any
    verdict: Verdict
    views: tuple[View, ...]
    provenance: str
    experiment: Experiment | None = None

    @classmethod
    def of(cls, going: Steps) -> Exhibit:
        """What ``robgui.steps`` has come to so far: within its loop, a picture that grows."""
        return cls.of_execution(going.execution, time.time())

    @classmethod
    def of_execution(cls, execution: Execution, when: float) -> Exhibit:
        """What an execution had come to at the time ``when``."""
        newest, said = execution.newest, execution.verdict
        if newest is None or said is None:
            raise RobguiError("There is no result yet; take a step first.")
        drawn = tuple(execution.analysis.views(newest.result, execution.params))
        where = provenance(execution.request, when)
        ended, took = execution.state, execution.seconds
        carried = experiment_of(execution.request, said, when=when, state=ended, seconds=took)
        return cls(execution.request, newest.result, said, drawn, where, carried)

    @classmethod
    def of_run(cls, workspace: Workspace, run_id: str) -> Exhibit:
        """A run of a workspace."""
        run = workspace.run(run_id)
        told = chapter(workspace, run)
        if told.verdict is None:
            why = run.error or run.state
            raise RobguiError(f"The run {run_id} has no result to show ({why}); start it again.")
        drawn, problem = views(workspace, told)
        if problem:
            raise RobguiError(problem)
        result, carried = workspace.result(run_id), experiment_of_run(run, told.verdict)
        return cls(run.request, result, told.verdict, drawn, provenance_of(run), carried)

    def plot(self, *, dark: bool = False, width: float = WIDTH) -> Plate:
        """All views in one matplotlib Figure, ``width`` inches wide."""
        title = find(self.request.analysis).title
        where = subject(self.request)
        return draw(
            self.views,
            title=title,
            subject=where,
            provenance=self.provenance,
            dark=dark,
            width=width,
        )

    def save(self, path: str | Path, *, dark: bool = False) -> Path:
        """Writes SVG, PDF or PNG, or the first film as GIF or MP4; returns the path."""
        target = Path(path)
        ending = target.suffix.lower()
        if ending in ENDINGS:
            return self._save_film(target, dark)
        if ending.removeprefix(".") not in KINDS:
            kinds = ", ".join([*(f".{kind}" for kind in KINDS), *ENDINGS])
            advice = f"a picture is written as {kinds}; choose one of these"
            raise RobguiError(f"{target.name}: {advice}.")
        try:
            kind = ending.removeprefix(".")
            target.write_bytes(save(self.plot(dark=dark), kind, experiment=self.experiment))
        except OSError as error:
            why = f"{target} cannot be written ({error.strerror})"
            raise RobguiError(f"{why}; choose a folder you may write to.") from error
        return target

    def _save_film(self, target: Path, dark: bool) -> Path:
        films = [view for view in self.views if isinstance(view, Film)]
        if not films:
            raise RobguiError(f"{target.name}: this result has no film; write a picture instead.")
        return save_film(
            films[0],
            target,
            title=find(self.request.analysis).title,
            subject=subject(self.request),
            provenance=self.provenance,
            dark=dark,
        )

    def to_dict(self) -> dict[str, Any]:
        """Request, verdict, provenance and every number of the result, as JSON takes them."""
        return {
            "request": self.request.model_dump(mode="json"),
            "verdict": readable(self.verdict)[0],
            "provenance": self.provenance,
            # No array is left out for its size: there is no second file beside a dictionary.
            "result": readable(self.result, largest=sys.maxsize)[0],
        }

    def to_pandas(self, view: int | str = 0) -> Any:
        """The numbers of one view, by place or title, as a DataFrame: what its CSV file holds."""
        try:
            import pandas as pd
        except ImportError:
            raise RobguiError(
                "A table of pandas needs pandas; install it with: pip install pandas"
            ) from None
        titles = [each.title for each in self.views]
        place = titles.index(view) if view in titles else view
        if not isinstance(place, int) or not -len(titles) <= place < len(titles):
            raise RobguiError(f"There is no view {view!r}; there are: {', '.join(titles)}.")
        return pd.read_csv(StringIO(to_csv(self.views[place])))

    @cached_property
    def _picture(self) -> str:
        # Inside the cell: a notebook that is sent on keeps its pictures.
        data = base64.b64encode(save(self.plot(), "png", dpi=110)).decode()
        return f"data:image/png;base64,{data}"

    def _repr_html_(self) -> str:
        """What a notebook shows: status, sentence, number, scope, reasons, pictures."""
        said = self.verdict
        style = f'style="color: {status_ink(said.status).colour()}"'
        status = f"<b {style}>{escape(in_words(said.status))}.</b>"
        parts = [f"<p>{status} <b>{escape(said.sentence)}</b></p>"]
        if said.number is not None:
            parts.append(f"<p>{escape(number_of(said))}</p>")
        if said.scope:
            parts.append(f"<p>{escape(said.scope)}</p>")
        if said.because:
            reasons = "".join(f"<li>{escape(reason)}</li>" for reason in said.because)
            parts.append(f"<ul>{reasons}</ul>")
        if self.views:
            words, size = escape(said.sentence), "max-width: 100%; height: auto"
            parts.append(f'<img alt="{words}" style="{size}" src="{self._picture}">')
        return "".join(parts)

    def __repr__(self) -> str:
        return f"{in_words(self.verdict.status)}. {self.verdict.text}"


def show(
    name: str,
    classifier: Models,
    inputs: Any = None,
    *,
    workspace: Workspace | None = None,
    **params: Any,
) -> Exhibit:
    """Runs the analysis ``name`` as ``run`` does; what it returns shows itself in a notebook.

    Args:
        name: One of ``robgui.analyses()``.
        classifier: A Classifier or the path of a model; several in a list for an analysis that
            compares models.
        inputs: A Dataset, the path of one, or an array ``(n, *shape)`` or ``shape``.
        workspace: Where to keep the run; by default it is kept nowhere.
        **params: The settings of the analysis.
    """
    going = steps(name, classifier, inputs, workspace=workspace, **params)
    for _ in going:
        pass
    return Exhibit.of(going)
