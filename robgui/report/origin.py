"""Where a result comes from: in full for a report, in one line for a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from robgui.core.errors import RobguiError
from robgui.core.execution.params.text import format_value
from robgui.core.execution.registry import analyses
from robgui.core.experiment import Experiment, experiment_of
from robgui.core.text.places import without_places
from robgui.core.text.words import duration
from robgui.version import __version__

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from robgui.core.dataset.derived import Ancestor, Derived
    from robgui.core.execution.request import Reference, Request
    from robgui.core.execution.run import Run
    from robgui.core.verdict import Verdict
    from robgui.core.workspace import Workspace


def subject(request: Request) -> str:
    """Which model on which input."""
    models = ", ".join(model.name for model in request.models)
    if request.dataset is None:
        return models
    if request.indices is None:
        return f"{models} on {request.dataset.name}"
    many = len(request.indices)
    if many == 1:
        which = f"input {request.indices[0]:,}"
    else:
        which = f"{many:,} inputs"
    return f"{models} on {which} of {request.dataset.name}"


def provenance(request: Request, when: float, version: str = __version__) -> str:
    """One line that says what it takes to make a picture again; it names no folder of the user's.

    Args:
        request: What was run.
        when: Seconds since 1970.
        version: Of the program that ran it.
    """
    parts = [_short(reference) for reference in request.models]
    parts += [] if request.dataset is None else [_short(request.dataset)]
    # A fingerprint needs the Params of the analysis.
    known = request.analysis in analyses()
    parts += [f"settings {request.fingerprint}"] if known else []
    parts.append(f"seed {request.params.get('seed', 'unknown')}")
    return ", ".join([*parts, f"robgui {version}", moment(when)])


def provenance_of(run: Run) -> str:
    """The same for a run of a workspace."""
    return provenance(run.request, run.created, run.versions.get("robgui", "unknown"))


def experiment_of_run(run: Run, shown: Verdict | None) -> Experiment:
    """The run as the files of its pictures carry it.

    Args:
        run: The run.
        shown: What is printed of it beside all that is known.
    """
    return experiment_of(
        run.request,
        run.verdict,
        shown=shown,
        when=run.created,
        state=run.state,
        seconds=run.seconds,
        run=run.id,
        version=run.versions.get("robgui", "unknown"),
    )


def origin(run: Run) -> dict[str, str]:
    """Where the result comes from: model, data, device, versions, time."""
    request = run.request
    rows = {}
    for place, model in enumerate(request.models, 1):
        if len(request.models) > 1:
            name = f"Model {place}"
        else:
            name = "Model"
        rows[name] = _reference(model)
    if request.dataset is not None:
        rows["Data"] = _reference(request.dataset)
        if request.indices is None:
            rows["Inputs"] = "all"
        else:
            rows["Inputs"] = _indices(request.indices)
    rows["Device"] = run.device or request.device or "not started"
    rows["Started"] = moment(run.created)
    rows["Time"] = duration(run.seconds)
    versions = [f"{name} {version}" for name, version in run.versions.items()]
    rows["Versions"] = ", ".join(versions) or "unknown"
    rows["Run"] = f"{run.id}, request {fingerprint_of(run)}"
    return rows


def settings(run: Run) -> dict[str, str]:
    """Every setting under its title, the seed among them."""
    known = analyses().get(run.request.analysis)
    if known:
        fields: Mapping[str, FieldInfo] = known.params.model_fields
    else:
        fields = {}
    params = run.request.params.items()
    return {_label(fields, name): _value(fields.get(name), value) for name, value in params}


def trails(workspace: Workspace, request: Request) -> dict[tuple[Ancestor, ...], list[Derived]]:
    """The derived inputs that a run looked at by where they come from; none for ordinary data."""
    if request.dataset is not None:
        ids = request.dataset.options.get("derived")
    else:
        ids = None
    if not isinstance(ids, list):
        return {}
    places = range(len(ids)) if request.indices is None else request.indices
    # Ids come from the workspace's file, which anyone may have written: they are checked, not
    # trusted.
    looked_at = [ids[place] for place in places if place < len(ids)]
    known = {item.id: item for item in workspace.derived()}
    found: dict[tuple[Ancestor, ...], list[Derived]] = {}
    for number in looked_at:
        if isinstance(number, int) and number in known:
            found.setdefault(known[number].trail, []).append(known[number])
    return found


def called(items: Sequence[Derived]) -> str:
    """What inputs of one origin are called together."""
    if len(items) == 1:
        return items[0].name
    return f"{len(items):,} inputs, among them {items[0].name}"


def moment(seconds: float) -> str:
    """A point in time, to the minute."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M %Z")


def fingerprint_of(run: Run) -> str:
    """The fingerprint of a run's request."""
    try:
        return run.request.fingerprint
    except RobguiError:  # of another version of the program
        known = run.request.analysis in analyses()
        if known:
            return "of other settings than there are now"
        return "of an unknown analysis"


def problems(run: Run, *others: str) -> list[str]:
    """What went wrong, in sentences that do not tell where files lie."""
    request = run.request
    known = [model.path for model in request.models] + (
        [request.dataset.path] if request.dataset else []
    )
    # Without repetitions, in order: the same error may be told by the run and by its drawing.
    said = dict.fromkeys((run.error, *others))
    return [without_places(sentence, known) for sentence in said if sentence]


def _label(fields: Mapping[str, FieldInfo], name: str) -> str:
    return (fields[name].title if name in fields else None) or name


def _value(field: FieldInfo | None, value: Any) -> str:
    """A setting as its form shows it: nothing, and sometimes zero, may have a word."""
    if field is None:
        extra = None
    else:
        extra = field.json_schema_extra
    if isinstance(extra, dict):
        declared = extra
    else:
        declared = {}
    if declared.get("zero") and value == 0:
        return str(declared["zero"])
    return without_places(format_value(value)) or str(declared.get("empty") or "none")


def _reference(reference: Reference) -> str:
    return f"{reference.name}, fingerprint {reference.fingerprint}"


def _short(reference: Reference) -> str:
    """A model or data by name and the beginning of its fingerprint."""
    # Eight digits tell any two files of one report apart, and a line has room for them.
    return f"{PurePath(reference.name).name} ({reference.fingerprint[:8]})"


def _indices(indices: Sequence[int]) -> str:
    listed = ", ".join(str(i) for i in indices[:12])
    if len(indices) > 12:
        return f"{listed} … ({len(indices):,} in all)"
    return listed
