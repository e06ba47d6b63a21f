"""Damaged files of every format: whatever the bytes, the loader answers with a model or with one
sentence.
"""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robgui.core.errors import RobguiError
from robgui.core.loading import load

FILES = (
    "table.pt2",
    "table.pt",
    "table.pth",
    "legacy.th",
    "table.safetensors",
    "table.onnx",
    "forest.skops",
)
#: Where a damaged byte with a right checksum reaches the reader behind the zip.
MEMBERS = {
    "table.pt2": "models/model.json",
    "table.pth": "data.pkl",
    "table.pt": "data.pkl",
    "forest.skops": "schema.json",
}
edits = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=6
)
cuts = st.one_of(st.just(1.0), st.floats(0, 1))
quick = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def damage(content: bytes, changes: list[tuple[float, int]], cut: float = 1.0) -> bytes:
    damaged = bytearray(content)
    for place, value in changes:
        damaged[int(place * len(damaged))] = value
    return bytes(damaged[: int(cut * len(damaged))])


def answers(content: bytes, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"m{suffix}"
        path.write_bytes(content)
        sentence = path.name
        try:
            load(path, device="cpu")
        except RobguiError as error:
            sentence = str(error)
        assert path.name in sentence and "\n" not in sentence


@pytest.mark.parametrize("name", FILES)
@given(changes=edits, cut=cuts)
@quick
def test_damaged_bytes_end_in_one_sentence(folder, name, changes, cut):
    path = folder / name
    answers(damage(path.read_bytes(), changes, cut), path.suffix)


@pytest.mark.parametrize("name", MEMBERS)
@given(changes=edits, cut=cuts)
@quick
def test_damage_behind_a_right_checksum_ends_in_one_sentence(folder, name, changes, cut):
    with zipfile.ZipFile(folder / name) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    with tempfile.NamedTemporaryFile() as target:
        with zipfile.ZipFile(target, "w") as archive:
            for member, content in members.items():
                archive.writestr(
                    member,
                    damage(content, changes, cut) if member.endswith(MEMBERS[name]) else content,
                )
        target.flush()
        answers(Path(target.name).read_bytes(), Path(name).suffix)
