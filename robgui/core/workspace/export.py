"""A workspace as plain files that any program can read."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.core.codec import readable
from robgui.core.errors import WorkspaceError
from robgui.core.files import write_whole
from robgui.core.finding_groups import number_of
from robgui.core.npz import npz

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run
    from robgui.core.finding import StoredFinding
    from robgui.core.workspace.workspace import Workspace


def export(workspace: Workspace, folder: Path) -> Path:
    """Writes ``runs/<id>.json`` and ``.npz``, ``findings.csv`` and ``findings/<id>.png``."""
    try:
        (folder / "runs").mkdir(parents=True, exist_ok=True)
        (folder / "findings").mkdir(exist_ok=True)
        for run in workspace.runs():
            write_document(
                {**_fields(run), "result": workspace.result(run.id)}, _inside(folder / "runs", run)
            )
        _write_findings(workspace, folder)
    except OSError as error:
        raise WorkspaceError(
            f"The workspace cannot be exported to {folder} ({error.strerror}); choose another"
            " folder."
        ) from error
    return folder


def export_findings(workspace: Workspace, folder: Path, ids: Sequence[int] | None = None) -> int:
    """Writes ``findings.csv`` and ``findings/<id>.png`` into ``folder``; returns how many findings.

    These findings, or all.
    """
    try:
        (folder / "findings").mkdir(parents=True, exist_ok=True)
        return _write_findings(workspace, folder, ids)
    except OSError as error:
        raise WorkspaceError(
            f"The findings cannot be exported to {folder} ({error.strerror}); choose another"
            " folder."
        ) from error


def write_document(fields: dict[str, Any], path: Path) -> None:
    """A run as strict JSON; arrays too large for it go into an NPZ beside it."""
    document, arrays = readable(fields)
    if arrays:
        document["arrays"] = path.with_suffix(".npz").name
        write_whole(path.with_suffix(".npz"), npz(arrays))
    write_whole(
        path, (json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n").encode()
    )


def _inside(folder: Path, run: Run) -> Path:
    """The path of a run's file; whatever a workspace calls its analysis, it stays in the folder."""
    path = folder / f"{run.request.analysis}-{run.id}.json"
    # The name of an analysis comes from the file and might hold "../".
    if path.resolve().parent != folder.resolve():
        raise WorkspaceError(
            f"The run {run.id!r} of {run.request.analysis!r} cannot be exported: its name leads out"
            f" of {folder}."
        )
    return path


def _fields(run: Run) -> dict[str, Any]:
    return {
        field.name: getattr(run, field.name)
        for field in dataclasses.fields(run)
        if field.name != "has_result"
    }


def _write_findings(workspace: Workspace, folder: Path, ids: Sequence[int] | None = None) -> int:
    chosen = [finding.id for finding in workspace.findings()] if ids is None else ids
    # csv writes line ends itself; on Windows each would otherwise be doubled.
    with (folder / "findings.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(
            [
                *("id", "run", "kind", "title", "severity", "starred", "note", "picture", "detail"),
                *("model", "data", "input", "number"),
            ]
        )
        requests = {run.id: run.request for run in workspace.runs()}
        for number in chosen:
            finding = workspace.finding(number)
            picture = _write_picture(finding, folder)
            detail = json.dumps(readable(finding.detail)[0], allow_nan=False, ensure_ascii=False)
            flags = [finding.starred, finding.note, picture, detail]
            about = _about(finding, requests.get(finding.run_id))
            named = [finding.id, finding.run_id, finding.kind, finding.title, finding.severity]
            table.writerow([*named, *flags, *about])
    return len(chosen)


def _about(finding: StoredFinding, request: Request | None) -> list[object]:
    """Which model failed on which data, and on which input: its file, its number in the data."""
    if request is None:
        return ["", "", finding.input_name, ""]
    number = number_of(finding, request)
    models = finding.network or ", ".join(model.name for model in request.models)
    data = "" if request.dataset is None else request.dataset.name
    return [models, data, finding.input_name, "" if number is None else number]


def _write_picture(finding: StoredFinding, folder: Path) -> str:
    if finding.picture is None:
        return ""
    from PIL import Image

    name = f"findings/{finding.id}.png"
    Image.fromarray(finding.picture).save(folder / name)
    return name
