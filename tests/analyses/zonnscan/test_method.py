"""The record of zoNNscan: complete, and read without anything heavy."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import robgui.analyses.zonnscan as package
from robgui import resources
from robgui.analyses.zonnscan.method import METHOD
from robgui.core.codec import decode, encode
from robgui.core.execution.registry import find, method_of
from tests.analyses.zonnscan.results import compared, disagreed, marked, swept

#: What a sweep has gained.
ATTACK = ("truth", "attack_radius", "attack", "attack_class", "attack_calls", "attack_note")
HEAVY = ("torch", "cv2", "onnxruntime", "matplotlib", "PySide6", "scipy", "PIL")


def test_the_record_is_read_without_torch_or_anything_that_draws() -> None:
    program = (
        f"import sys, robgui.analyses.zonnscan.method; print([name for name in {HEAVY!r} if name in"
        " sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there_and_nothing_else() -> None:
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # noqa: B018


def test_every_analysis_says_what_the_window_shows() -> None:
    assert [one.name for one in METHOD.analyses] == [
        "zonnscan",
        "zonnscan_populations",
        "zonnscan_corner_cases",
        "zonnscan_watermark",
    ]
    for one in METHOD.analyses:
        assert find(one.name) is one and method_of(one.name) is METHOD
        assert (
            one.tab
            and "Run" in one.invitation
            and len(one.explanation) > 100
            and one.question.endswith("?")
        )
        assert one.demo is not None
        for name in (one.demo.model, one.demo.data):
            assert resources.path("demo", name).exists()
        one.params.parse(dict(one.demo.params))
    assert METHOD.help_path.is_file() and METHOD.icon_path.is_file()


def test_what_an_analysis_takes_depends_on_its_settings() -> None:
    sweep, populations, corner_cases, watermark = METHOD.analyses
    assert (
        sweep.takes(sweep.params.parse({"zone": "box"})).fewest_inputs == 2
        and sweep.takes(sweep.params()).most_inputs == 1
    )
    assert populations.takes(populations.params()).needs == {"gradients"}
    assert not populations.takes(populations.params.parse({"against": "rest"})).needs
    assert corner_cases.takes(corner_cases.params()).fewest_models == 2
    assert watermark.takes(watermark.params.parse({"mode": "compare"})).fewest_models == 2


@pytest.mark.parametrize(
    ("result", "old", "new"),
    [
        (swept(), {"zone": "linf", "seed": 0}, ATTACK),
        (compared([0.1], [0.2]), {"radius": 0.025}, ()),
        (disagreed(2), {}, ("chosen",)),
        (marked(np.zeros((2, 1, 4))), {"mode": "make", "radius": 0.025}, ()),
    ],
)
def test_a_result_of_the_first_edition_opens(
    result: object, old: dict[str, object], new: tuple[str, ...]
) -> None:
    """It has copies of its settings, and lacks what is new."""
    document, blob = encode(result)
    fields = {name: value for name, value in document["fields"].items() if name not in new} | old
    again = decode(type(result), {**document, "fields": fields}, blob)
    known = next(one for one in METHOD.analyses if one.result is type(result))
    assert known.verdict(again, known.params()).sentence and known.views(again, known.params())


def test_a_sweep_of_the_first_edition_is_not_taken_for_an_attacked_one() -> None:
    document, blob = encode(swept())
    fields = {
        name: value for name, value in document["fields"].items() if not name.startswith("attack")
    }
    again = decode(package.ZonnscanResult, {**document, "fields": fields}, blob)
    told = find("zonnscan").verdict(again, package.ZonnscanParams())
    assert told.status == "unknown" and "No gradient attack was made." in told.because
