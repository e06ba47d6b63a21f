"""Reports a check: as lines, as JSON, and as JUnit XML for a pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

from robgui.batch.guards.checking import CaseOutcome, Checked, State
from robgui.batch.summary import clean
from robgui.core.text.words import count, percent

_SIGNS = {State.FIXED: "✓", State.KEPT: "✓", State.STILL: "✗", State.NEW: "✗"}


def lines(checked: Checked) -> Iterator[str]:
    """One line for each finding and for each guarded input that is wrong now; then the summary."""
    for one in checked.outcomes:
        if one.state is not State.KEPT:
            yield line(one)
    yield summary(checked)


def line(outcome: CaseOutcome) -> str:
    """What became of a case, in one line."""
    case = outcome.case
    said = f"{_SIGNS[outcome.state]} {outcome.state}: {case.name}: {_answer(outcome)}"
    if outcome.barely:
        said += ", by a hair that another batch may turn"
    if outcome.known:
        said += ", as in the baseline"
    return said


def summary(checked: Checked) -> str:
    """The line that a pipeline shows: how many are fixed, still there and new."""
    findings, guarded = len(checked.suite.findings), len(checked.suite.guarded)
    of = f"{count(findings, 'finding')} and {count(guarded, 'guarded input')}"
    known = sum(one.known for one in checked.outcomes)
    if known:
        before = f"; {known:,} of the failing ones are in the baseline"
    else:
        before = ""
    return f"{checked.model}: {numbers(checked)} ({of}{before})."


def numbers(checked: Checked) -> str:
    """How many are fixed, still there and new."""
    states = (State.FIXED, State.STILL, State.NEW)
    return ", ".join(f"{state} {checked.count(state):,}" for state in states)


def document(checked: Checked) -> dict[str, Any]:
    """The check as JSON values; a later check can use it as its baseline."""
    return {
        "suite": checked.suite.folder.name,
        "model": {"name": checked.model, "fingerprint": checked.fingerprint},
        "baseline": checked.baseline or None,
        "passed": checked.passed,
        "summary": summary(checked),
        "counts": {state.value: checked.count(state) for state in State},
        "cases": [_case(one) for one in checked.outcomes],
    }


def junit(checked: Checked) -> bytes:
    """JUnit XML: one test case per input; what is in the baseline is skipped."""
    root = ET.Element("testsuites")
    suite = ET.SubElement(root, "testsuite", name=clean(checked.suite.folder.name or "guards"))
    for one in checked.outcomes:
        case = ET.SubElement(
            suite, "testcase", classname=one.case.role, name=one.case.name, time="0"
        )
        ET.SubElement(case, "system-out").text = clean(f"{one.case.title}. {line(one)}")
        if one.failing:
            said = clean(f"{one.state}: {_answer(one)}")
            ET.SubElement(case, "failure", message=said).text = clean(one.case.title)
        elif one.known:
            ET.SubElement(case, "skipped", message=clean(f"{one.state}, as in the baseline"))
    suite.attrib |= {
        "tests": str(len(suite)),
        "failures": str(len(suite.findall("testcase/failure"))),
        "errors": "0",
        "skipped": str(len(suite.findall("testcase/skipped"))),
        "time": "0",
    }
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _answer(outcome: CaseOutcome) -> str:
    case = outcome.case
    sure = percent(outcome.probability)
    if outcome.answer == case.expected or outcome.state in (State.FIXED, State.KEPT):
        return f"“{case.expected}” as it should be, {sure} sure"
    return f"“{outcome.answer}” where “{case.expected}” ({sure}) is right"


def _case(outcome: CaseOutcome) -> dict[str, Any]:
    case = outcome.case
    return {
        "name": case.name,
        "role": case.role,
        "state": outcome.state.value,
        "known": outcome.known,
        "expected": case.expected,
        "by": case.by,
        "answer": outcome.answer,
        "answer_before": case.given,
        # Nine digits hold a float32; the rest is noise of the conversion.
        "probability": round(outcome.probability, 9),
        "margin": round(outcome.margin, 9),
        "barely": outcome.barely,
        "title": case.title,
        "source": case.source,
    }
