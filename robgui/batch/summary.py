"""The outcome of a batch: as JSON, as JUnit XML for a pipeline, and in sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from robgui.batch.batch import BatchEntry, Progress
from robgui.batch.gates import GateOutcome
from robgui.core.execution.run import RunState
from robgui.core.text.words import count
from robgui.core.verdict import Status

#: Characters that XML 1.0 cannot hold at all.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def passed(progress: Progress, outcomes: Sequence[GateOutcome]) -> bool:
    """Whether every request has a result and no gate is broken."""
    return all(entry.state is RunState.DONE for entry in progress.entries) and all(
        outcome.passed for outcome in outcomes
    )


def sentences(
    progress: Progress, outcomes: Sequence[GateOutcome], left_out: Sequence[str], most: int = 20
) -> Iterator[str]:
    """The summary for a person: counts, then what failed, then the gates.

    At most ``most`` lines of each.
    """
    reused = sum(entry.reused for entry in progress.entries)
    counts = {
        "done": progress.count(RunState.DONE) - reused,
        "done before": reused,
        "failed": progress.count(RunState.FAILED),
        "stopped early": progress.count(RunState.CANCELLED),
        "not begun": progress.count(RunState.QUEUED),
    }
    told = ", ".join(f"{many:,} {word}" for word, many in counts.items() if many)
    yield f"{count(len(progress.entries), 'request')}: {told or 'nothing to do'}."
    yield from _statuses(progress)
    yield from _first([f"Left out: {why}" for why in left_out], most)
    yield from _first(
        [
            f"Failed: {entry.title}: {entry.error}"
            for entry in progress.entries
            if entry.state is RunState.FAILED
        ],
        most,
    )
    for outcome in outcomes:
        yield f"Gate {outcome.gate.text}: {_words(outcome)}"
        yield from _first([f"  {why}" for why in outcome.broken], most)


def _statuses(progress: Progress) -> Iterator[str]:
    """How many requests have each status, the worst first."""
    found = Counter(entry.verdict.status for entry in progress.entries if entry.verdict is not None)
    if found:
        told = [
            f"{status.sign} {status.words}: {found[status]:,}" for status in Status if found[status]
        ]
        yield f"{', '.join(told)}."


def document(
    progress: Progress, outcomes: Sequence[GateOutcome], left_out: Sequence[str], workspace: Path
) -> dict[str, Any]:
    """The summary as JSON values."""
    return {
        "workspace": str(workspace),
        "passed": passed(progress, outcomes),
        "seconds": round(progress.seconds, 3),
        "statuses": {
            status.value: many
            for status in Status
            if (
                many := sum(
                    entry.verdict is not None and entry.verdict.status is status
                    for entry in progress.entries
                )
            )
        },
        "counts": {
            state.value: progress.count(state) for state in RunState if progress.count(state)
        },
        "requests": [_as_json(entry) for entry in progress.entries],
        "gates": [
            {
                "gate": outcome.gate.text,
                "passed": outcome.passed,
                "checked": outcome.checked,
                "broken": list(outcome.broken),
            }
            for outcome in outcomes
        ],
        "left_out": list(left_out),
    }


def junit(name: str, progress: Progress, outcomes: Sequence[GateOutcome]) -> bytes:
    """JUnit XML: one test case per request and one per gate."""
    root = ET.Element("testsuites")
    suite = ET.SubElement(root, "testsuite", name=clean(name))
    for entry in progress.entries:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=entry.request.analysis,
            name=clean(entry.title),
            time=f"{entry.seconds:.3f}",
        )
        if entry.verdict is not None:
            said = f"{entry.verdict.status.words}. {entry.verdict.text}"
            ET.SubElement(case, "system-out").text = clean(said)
        # In JUnit an error is a test that could not run, a failure one that found something.
        if entry.state is RunState.FAILED:
            ET.SubElement(case, "error", message=clean(entry.error))
        elif entry.state is not RunState.DONE:
            ET.SubElement(
                case,
                "skipped",
                message="stopped before it had ended" if entry.run_id else "not begun",
            )
    for outcome in outcomes:
        case = ET.SubElement(
            suite, "testcase", classname="gate", name=clean(outcome.gate.text), time="0"
        )
        if not outcome.passed:
            ET.SubElement(case, "failure", message=clean(_words(outcome))).text = clean(
                "\n".join(outcome.broken)
            )
    counts = {
        kind: len(suite.findall(f"testcase/{kind}")) for kind in ("failure", "error", "skipped")
    }
    suite.attrib |= {
        # Pipelines show these counts without looking at the cases.
        "tests": str(len(suite)),
        "failures": str(counts["failure"]),
        "errors": str(counts["error"]),
        "skipped": str(counts["skipped"]),
        "time": f"{progress.seconds:.3f}",
    }
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _words(outcome: GateOutcome) -> str:
    if outcome.passed:
        return "passed"
    return f"FAILED for {len(outcome.broken):,} of {count(outcome.checked, 'request')}"


def _as_json(entry: BatchEntry) -> dict[str, Any]:
    return {
        "title": entry.title,
        "analysis": entry.request.analysis,
        "fingerprint": entry.request.fingerprint,
        "state": entry.state.value,
        "reused": entry.reused,
        "run": entry.run_id,
        "seconds": round(entry.seconds, 3),
        "attempts": entry.attempts,
        "status": None if entry.verdict is None else entry.verdict.status.value,
        "verdict": "" if entry.verdict is None else entry.verdict.text,
        "error": entry.error,
    }


def _first(lines: Sequence[str], most: int) -> Iterator[str]:
    yield from lines[:most]
    if len(lines) > most:
        yield f"  … and {len(lines) - most:,} more"


def clean(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
