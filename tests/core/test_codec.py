from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from robgui.core.codec import decode, encode, put_together, readable, take_apart
from robgui.core.errors import WorkspaceError
from robgui.core.npz import npz, unzip


class Method(StrEnum):
    NAIVE = "naive"
    OIR = "oir"


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True)
    radius: float = 0.1
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Region:
    low: np.ndarray
    high: np.ndarray
    method: Method
    trace: tuple[NDArray[np.float32], ...] = ()


@dataclass(frozen=True)
class Sample:
    index: np.ndarray
    labels: np.ndarray
    calls: int
    share: float
    name: str
    settings: Settings
    maybe: np.ndarray | None = None
    regions: tuple[Region, ...] = ()
    by_class: dict[int, Region] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    mode: Literal["linf", "l2"] = "linf"
    best: float | None = None


@dataclass(frozen=True)
class Holder:
    array: np.ndarray
    value: Any


def region(seed: int = 0) -> Region:
    values = np.random.default_rng(seed).random((2, 3))
    return Region(
        values[0], values[1], Method.OIR, (values.astype(np.float32), values[:1].astype(np.float32))
    )


def sample() -> Sample:
    return Sample(
        index=np.linspace(0, 1, 7),
        labels=np.array(["shirt", "übergrößen"]),
        calls=np.int64(12),
        share=1,
        name="x",
        settings=Settings(radius=0.25, names=("a", "b")),
        regions=(region(1), region(2)),
        by_class={3: region(3)},
        notes={"nan": math.nan, "inf": -math.inf, "list": [1, (2.5, None)], "$odd": True},
        best=math.inf,
    )


def there_and_back(value: Any) -> Any:
    document, blob = encode(value)
    return decode(type(value), json.loads(json.dumps(document, allow_nan=False)), blob)


def test_every_kind_of_field_comes_back_as_it_was():
    before, after = sample(), there_and_back(sample())
    np.testing.assert_array_equal(after.index, before.index)
    np.testing.assert_array_equal(after.labels, before.labels)
    assert (after.calls, after.share, after.name, after.maybe, after.mode, after.best) == (
        12,
        1.0,
        "x",
        None,
        "linf",
        math.inf,
    )
    assert type(after.share) is float
    assert after.settings == before.settings
    assert isinstance(after.regions, tuple)
    assert after.regions[1].method is Method.OIR
    np.testing.assert_array_equal(after.regions[1].trace[0], before.regions[1].trace[0])
    assert after.regions[1].trace[0].dtype == np.float32
    np.testing.assert_array_equal(after.by_class[3].low, before.by_class[3].low)
    assert math.isnan(after.notes["nan"])
    assert after.notes["inf"] == -math.inf
    assert after.notes["list"] == [1, (2.5, None)]
    assert after.notes["$odd"] is True


@given(
    hnp.arrays(
        dtype=st.sampled_from([np.float32, np.float64, np.int64, np.uint8, np.bool_]),
        shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5),
    )
)
def test_any_array_comes_back_bit_for_bit(array):
    after = there_and_back(Holder(array, None)).array
    assert after.dtype == array.dtype
    assert after.shape == array.shape
    assert after.tobytes() == array.tobytes()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(), inner)
        | st.dictionaries(st.integers(), inner)
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_plain_value_comes_back_equal(value):
    after = there_and_back(Holder(np.zeros(1), value)).value
    assert after == value


def test_a_large_array_comes_back_and_may_be_written_to():
    array = np.random.default_rng(0).random((600, 1000))
    after = there_and_back(Holder(array, None)).array
    np.testing.assert_array_equal(after, array)
    after[0] = 0


@pytest.mark.parametrize(
    "value",
    [np.array([object()]), torch.zeros(2), {1, 2}, lambda: 0, 1j],
    ids=["object array", "tensor", "set", "function", "complex"],
)
def test_what_would_need_a_pickle_is_refused_by_name(value):
    with pytest.raises(WorkspaceError):
        encode(Holder(np.zeros(1), value))


def test_a_pickle_inside_the_blob_is_never_executed(tmp_path):
    import io
    import zipfile

    marker = tmp_path / "executed"

    class Bomb:
        def __reduce__(self):
            return (marker.touch, ())

    member = io.BytesIO()
    np.lib.format.write_array(member, np.array([Bomb()], dtype=object), allow_pickle=True)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a0.npy", member.getvalue())
    with pytest.raises(WorkspaceError):
        decode(
            Holder,
            {"$type": "Holder", "fields": {"array": {"$array": "a0"}, "value": None}},
            buffer.getvalue(),
        )
    assert not marker.exists()


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"$type": "Region", "fields": {}},
        {"$type": "Holder", "fields": {"array": {"$array": "a9"}, "value": 1}},
        {"$type": "Holder", "fields": {"array": 5, "value": 1}},
        {"$type": "Holder", "fields": {"array": {"$array": "a0"}}},
        {"$type": "Holder", "fields": {"array": {"$array": "a0"}, "value": {"$float": "1e5"}}},
        {"$type": "Holder", "fields": {"array": {"$array": "a0"}, "value": {"$items": [[[1], 2]]}}},
        {
            "$type": "Holder",
            "fields": {"array": {"$array": "a0"}, "value": {"$type": "Region", "fields": {}}},
        },
        {"$type": "Holder", "fields": []},
    ],
)
def test_a_malformed_document_is_one_sentence(document):
    with pytest.raises(WorkspaceError):
        decode(Holder, document, npz({"a0": np.zeros(2)}))


@given(st.data())
def test_a_damaged_blob_is_an_error_or_harmless(data):
    blob = bytearray(encode(Holder(np.arange(50.0), "x"))[1])
    document = encode(Holder(np.arange(50.0), "x"))[0]
    for _ in range(data.draw(st.integers(1, 4))):
        blob[data.draw(st.integers(0, len(blob) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(blob)))
    for damaged in (bytes(blob), bytes(blob[:cut])):
        try:
            decode(Holder, document, damaged)
        except WorkspaceError:
            continue


def test_a_blob_that_claims_terabytes_is_refused():
    import io
    import zipfile

    buffer = io.BytesIO()
    header = (
        np.lib.format.magic(1, 0)
        + b"\x76\x00"
        + b"{'descr': '<f8', 'fortran_order': False, 'shape': (9000000000000,), }".ljust(117)
        + b"\n"
    )
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a0.npy", header)
    with pytest.raises(WorkspaceError):
        unzip(buffer.getvalue())


def test_fields_that_are_gone_are_left_out_and_new_ones_take_their_default():
    document, blob = encode(sample())
    document["fields"]["once"] = 1
    del document["fields"]["best"]
    assert decode(Sample, document, blob).best is None


def test_readable_is_strict_json_with_large_arrays_apart():
    document, arrays = readable(
        {"result": sample(), "big": np.zeros((40, 50)), "bad": np.array([1, np.nan])}, largest=10
    )
    text = json.dumps(document, allow_nan=False)
    assert json.loads(text)["bad"] == [1.0, None]
    assert document["result"]["index"] == pytest.approx(np.linspace(0, 1, 7))
    assert document["big"] == {"array": "big", "shape": [40, 50], "dtype": "float64"}
    assert document["result"]["best"] is None
    assert document["result"]["regions"][0]["method"] == "oir"
    assert set(arrays) == {"big"}


def test_readable_writes_numpy_scalars_as_numbers():
    document, _ = readable(
        {"a": np.float32(0.5), "b": np.int64(3), "c": np.bool_(True), "d": np.float64("nan")}
    )
    assert document == {"a": 0.5, "b": 3, "c": True, "d": None}


def test_a_renamed_class_is_written_and_read_under_its_old_name():
    from robgui.analyses.semantic.scene.scene import SceneAxis

    axis = SceneAxis("turn", "Turn", "°", -1.0, 1.0, 0.0)
    document, arrays = take_apart(axis)
    assert document["$type"] == "Axis"
    assert put_together(SceneAxis, document, arrays) == axis
