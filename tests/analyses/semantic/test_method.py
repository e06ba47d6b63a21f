"""The record of the method: read without torch, complete, and old results still open."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import robgui.analyses.semantic as package
from robgui.analyses.semantic.method import METHOD
from robgui.core.codec import decode, encode
from robgui.core.execution.registry import find
from robgui.core.npz import npz, unzip
from robgui.core.verdict import Status
from tests.analyses.semantic.toy import FLAT, open_toy, run, toy_net, with_hole

HEAVY = ("torch", "cv2", "onnxruntime", "matplotlib", "PySide6", "scipy")
#: Fields that copied a setting in the first edition.
OLD: dict[str, dict[str, Any]] = {
    "semantic_map": {"trap_floor": 0.2, "trap_wall": 0.5, "seed": 0, "up": "auto"},
    "semantic_regions": {
        "samples": 256,
        "spec": "toy",
        "mode": "robust",
        "preset": "default",
        "eps_m": 0.3,
        "eps_v": 0.1,
        "seed": 0,
        "up": "auto",
    },
    "srvr": {"mode": "robust", "preset": "default"},
}
NEW = {
    "semantic_map": ("top_scores",),
    "semantic_regions": ("inside_lost", "inside_total", "inside_most"),
    "srvr": (),
}


def test_the_record_is_read_without_anything_heavy() -> None:
    read = "import sys; from robgui.analyses.semantic.method import METHOD"
    code = f"{read}; print([n for n in {HEAVY} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_package_costs_nothing_until_a_name_is_used() -> None:
    read = "import sys, robgui.analyses.semantic as s; print('numpy' in sys.modules)"
    code = f"{read}; s.MapParams; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_every_public_name_of_the_package_is_there() -> None:
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert dir(package) == sorted(package.__all__)
    with pytest.raises(AttributeError, match="nothing_such"):
        package.nothing_such  # noqa: B018


def test_the_analyses_say_what_they_are_and_what_to_press() -> None:
    names = ["semantic_map", "semantic_regions", "srvr", "operating_domain"]
    assert [one.name for one in METHOD.analyses] == names
    for one in METHOD.analyses:
        assert (
            one.tab
            and "press Run" in one.invitation
            and len(one.explanation) > 200
            and one.demo is not None
        )
        assert find(one.name) is one and one.kinds == {"image"}
    assert METHOD.help_path.is_file() and METHOD.icon_path.is_file()


@pytest.mark.parametrize("name", OLD)
def test_a_result_of_the_first_edition_still_opens_and_is_drawn(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)
    known = find(name)
    extra = (
        {"step": {"azimuth": 12, "elevation": 10}}
        if name == "semantic_map"
        else {"iterations": 60, "start_count": 1}
    )
    result = run(name, toy_net(with_hole if name != "srvr" else FLAT), target="pot", **extra)
    document, blob = encode(result)
    arrays = unzip(blob)
    for field in NEW[name]:
        arrays.pop(document["fields"].pop(field)["$array"])
    document["fields"] |= OLD[name]
    again = decode(known.result, document, npz(arrays))
    params = known.params()
    said = known.verdict(again, params)
    assert known.views(again, params) and said.sentence and said.status is not Status.HOLDS
    assert [f.title for f in known.findings(again, params)] == [
        f.title for f in known.findings(result, params)
    ]
    for field in known.result.__slots__:
        if field not in NEW[name] and isinstance(getattr(result, field), np.ndarray):
            np.testing.assert_equal(getattr(again, field), getattr(result, field))


def test_failures_in_regions_of_the_first_edition_are_not_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)
    known = find("semantic_regions")
    result = run("semantic_regions", toy_net(with_hole), target="pot", starts=((120, 30),))
    fields = {
        name: getattr(result, name)
        for name in known.result.__slots__
        if name not in NEW["semantic_regions"]
    }
    said = known.verdict(known.result(**fields), known.params())
    assert said.status is Status.FAILS and "contains poses that lose it" in said.sentence
