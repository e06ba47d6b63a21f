"""A workspace as one HTML file: no network, readable on a phone, light and dark.

Everything that comes from outside (names, paths, notes, errors, settings) passes ``html.escape``; a content
security policy forbids scripts and every address but ``data:``.
"""

from __future__ import annotations

import base64
import io
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from robgui.core.analysis import analyses
from robgui.core.errors import WorkspaceError
from robgui.core.params_text import write
from robgui.report.figures import draw, save
from robgui.report.page import STYLE

if TYPE_CHECKING:
    import numpy as np

    from robgui.core.finding import StoredFinding
    from robgui.core.request import Reference
    from robgui.core.run import Run
    from robgui.core.workspace import Workspace

#: A report is for reading: the worst so many findings are shown, and how many there are is said.
MOST_FINDINGS = 200
_THUMBNAIL = 144


def write_html(workspace: Workspace, path: str | Path) -> Path:
    """Writes every run and finding of ``workspace`` into one HTML file; returns its path."""
    target = Path(path)
    page = "".join(_page(workspace))
    try:
        target.write_text(page, encoding="utf-8")
    except OSError as error:
        raise WorkspaceError(f"The report cannot be written to {target} ({error.strerror}); choose another place.") from error
    return target


def _page(workspace: Workspace) -> Iterator[str]:
    runs = workspace.runs()
    findings = workspace.findings()
    name = escape(workspace.path.stem)
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n"
    yield f"<title>{name}: robustness report</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
    yield f"<header><h1>{name}</h1><p>{_overview(runs, len(findings))}</p></header>\n"
    yield from _findings(workspace, runs, findings)
    yield '<section aria-labelledby="runs"><h2 id="runs">Runs</h2>\n' if runs else ""
    for run in runs:
        yield _run(workspace, run)
    yield "</section>\n" if runs else ""
    yield "</main>\n</body>\n</html>\n"


def _overview(runs: Sequence[Run], findings: int) -> str:
    if not runs:
        return "This workspace holds no run yet: open a model and inputs, choose an analysis and press Run."
    states = Counter(str(run.state) for run in runs)
    listed = ", ".join(f"{count} {state}" for state, count in states.items())
    return f"{_count(len(runs), 'run')} ({listed}), {_count(findings, 'finding')}. Written {_moment(time.time())}."


def _findings(workspace: Workspace, runs: Sequence[Run], findings: Sequence[StoredFinding]) -> Iterator[str]:
    if not findings:
        return
    known = {run.id: run for run in runs}
    yield '<section aria-labelledby="findings"><h2 id="findings">Findings</h2>\n'
    if len(findings) > MOST_FINDINGS:
        yield f"<p>The worst {MOST_FINDINGS} of {len(findings):,} are shown.</p>\n"
    yield '<div class="wide"><table class="findings"><thead><tr><th>Picture<th>Finding<th>Severity<th>Run</tr></thead><tbody>\n'
    for listed in findings[:MOST_FINDINGS]:
        yield _finding(workspace.finding(listed.id), known.get(listed.run_id))
    yield "</tbody></table></div></section>\n"


def _finding(finding: StoredFinding, run: Run | None) -> str:
    picture = "" if finding.picture is None else f'<img class="thumb" alt="{escape(finding.title)}" src="{_png(finding.picture)}">'
    star = '<span title="starred">★</span> ' if finding.starred else ""
    note = f'<p class="note">{escape(finding.note)}</p>' if finding.note else ""
    link = "" if run is None else f'<a href="#run-{escape(run.id)}">{escape(_title(run))}</a>'
    bar = f'<meter min="0" low="0.34" high="0.67" max="1" optimum="0" value="{finding.severity:.3f}"></meter> {finding.severity:.2f}'
    words = f'{star}{escape(finding.title)}<p class="quiet">{escape(finding.kind)}</p>{note}'
    return f"<tr><td>{picture}<td>{words}<td>{bar}<td>{link}</tr>\n"


def _run(workspace: Workspace, run: Run) -> str:
    verdict = f'<p class="verdict">{escape(run.verdict)}</p>' if run.verdict else ""
    error = f'<p class="error">{escape(run.error)}</p>' if run.error else ""
    state = escape(str(run.state))
    return (
        f'<article id="run-{escape(run.id)}">\n<h3>{escape(_title(run))} <span class="state {state}">{state}</span></h3>\n'
        f"{verdict}{error}{_picture(workspace, run)}\n<details><summary>Settings and origin</summary>{_table(_origin(run))}"
        f"{_table(_settings(run))}</details>\n</article>\n"
    )


def _picture(workspace: Workspace, run: Run) -> str:
    """The figure in light and dark, or a sentence why there is none."""
    if not run.has_result:
        return '<p class="quiet">This run has no result.</p>'
    try:
        result = workspace.result(run.id)
    except WorkspaceError as error:
        return f'<p class="error">{escape(str(error))}</p>'
    light, dark = (draw(run.request.analysis, result, dark=mode) for mode in (False, True))
    if light is None or dark is None:
        return ""
    sources = [f"data:image/svg+xml;base64,{base64.b64encode(save(figure)).decode()}" for figure in (light, dark)]
    alt = escape(run.verdict or _title(run))
    image = f'<img class="figure" alt="{alt}" src="{sources[0]}">'
    return f'<picture><source media="(prefers-color-scheme: dark)" srcset="{sources[1]}">{image}</picture>'


def _origin(run: Run) -> dict[str, str]:
    """Where the result comes from: model, data, device, versions, time."""
    request = run.request
    rows = {f"Model {i}" if len(request.models) > 1 else "Model": _reference(model) for i, model in enumerate(request.models, 1)}
    if request.dataset is not None:
        rows["Data"] = _reference(request.dataset)
    rows["Inputs"] = "all" if request.indices is None else _indices(request.indices)
    rows["Device"] = run.device or request.device or "not started"
    rows["Started"] = _moment(run.created)
    rows["Time"] = duration(run.seconds)
    rows["Versions"] = ", ".join(f"{name} {version}" for name, version in run.versions.items()) or "unknown"
    rows["Run"] = f"{run.id}, request {_fingerprint(run)}"
    return rows


def _fingerprint(run: Run) -> str:
    return run.request.fingerprint if run.request.analysis in analyses() else "of an unknown analysis"


def _settings(run: Run) -> dict[str, str]:
    """Every setting under its title, the seed among them."""
    known = analyses().get(run.request.analysis)
    fields = known.params.model_fields if known else {}
    return {_label(fields, name): _value(value) for name, value in run.request.params.items()}


def _label(fields: Mapping[str, Any], name: str) -> str:
    return (fields[name].title if name in fields else None) or name


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else write(value)


def _reference(reference: Reference) -> str:
    place = f" ({reference.path})" if reference.path else ""
    return f"{reference.name}{place}, fingerprint {reference.fingerprint}"


def _indices(indices: Sequence[int]) -> str:
    listed = ", ".join(str(i) for i in indices[:12])
    return f"{listed} … ({len(indices):,} in all)" if len(indices) > 12 else listed


def _table(rows: Mapping[str, str]) -> str:
    lines = "".join(f"<tr><th>{escape(name)}<td>{escape(value)}</tr>" for name, value in rows.items())
    return f'<table class="facts"><tbody>{lines}</tbody></table>'


def _title(run: Run) -> str:
    known = analyses().get(run.request.analysis)
    return known.title if known else run.request.analysis


def _png(picture: np.ndarray) -> str:
    image = Image.fromarray(picture)
    image.thumbnail((2 * _THUMBNAIL, _THUMBNAIL))
    buffer = io.BytesIO()
    image.save(buffer, "png")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M %Z")


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def duration(seconds: float) -> str:
    """A time in words: ``2.1 s``, ``3 min 5 s``, ``2 h 10 min``."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
