"""Frames: whatever bytes a worker sends, this program survives them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import struct
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robgui.core.execution.worker import frames
from robgui.core.execution.worker.frames import Frame, FrameError, read_frame, write_frame


def raw(header: object, body: bytes = b"") -> io.BytesIO:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return io.BytesIO(struct.pack("!4sIQ", b"rgf1", len(text), len(body)) + text + body)


def sent(frame: Frame) -> Frame | None:
    buffer = io.BytesIO()
    write_frame(buffer, frame)
    buffer.seek(0)
    return read_frame(buffer)


ARRAYS = {
    "fortran": np.arange(6.0).reshape(2, 3).T,
    "words": np.array(["a", "bb", ""]),
    "bytes": np.array([b"a", b"bb"]),
    "empty": np.zeros((0, 3), np.float32),
    "one": np.array(3.5, np.float16),
    "flags": np.array([True, False]),
    "complex": np.array([1 + 2j]),
    "reversed": np.arange(5)[::-1],
    "times": np.array(["2020-01-01"], "datetime64[D]"),
}


def test_arrays_come_back_as_they_were():
    back = sent(Frame({"a": [1, None, "x"]}, ARRAYS))
    assert back.header == {"a": [1, None, "x"]}
    for name, array in ARRAYS.items():
        assert (back.arrays[name].dtype, back.arrays[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(back.arrays[name], array)


def test_what_comes_back_may_be_written_to():
    back = sent(Frame({}, {"a": np.arange(4)}))
    back.arrays["a"] += 1
    assert back.arrays["a"].tolist() == [1, 2, 3, 4]


def test_a_large_array_goes_through_a_real_pipe():
    reading, writing = os.pipe()
    array = np.random.default_rng(0).random(500_000)
    with (
        os.fdopen(reading, "rb", buffering=0) as source,
        os.fdopen(writing, "wb", buffering=0) as target,
    ):
        thread = threading.Thread(target=write_frame, args=(target, Frame({}, {"a": array})))
        thread.start()
        back = read_frame(source)
        thread.join()
    np.testing.assert_array_equal(back.arrays["a"], array)


@pytest.mark.parametrize("left", [b"", b"rgf1", raw({}).getvalue()[:-1]])
def test_who_is_gone_says_no_more_also_in_the_middle_of_a_frame(left):
    assert read_frame(io.BytesIO(left)) is None


@pytest.mark.parametrize(
    "bad",
    [
        b"GET / HTTP/1.1\r\n\r\n" + bytes(20),
        raw([1]).getvalue(),
        raw(b"{").getvalue(),
        raw(b"[" * 200_000).getvalue(),
        raw({"arrays": [1]}).getvalue(),
        raw({"arrays": {"a": ["<f8", [1]]}}).getvalue(),
        raw({"arrays": {"a": ["<f8", [2**40, 2**40]]}}, bytes(64)).getvalue(),
        raw({"arrays": {"a": ["<f8", [-1]]}}, bytes(64)).getvalue(),
        raw({"arrays": {"a": ["<f8", [1.5]]}}, bytes(64)).getvalue(),
        raw({"arrays": {"a": ["<f8", [True]]}}, bytes(64)).getvalue(),
        raw({"arrays": {"a": ["|O", [1]]}}, bytes(64)).getvalue(),
        raw({"arrays": {"a": ["<f8,<f8", [1]]}}, bytes(64)).getvalue(),
        raw({"arrays": {"a": ["<f3", [1]]}}, bytes(64)).getvalue(),
        raw({"arrays": {"a": ["<f8", [1] * 33]}}, bytes(64)).getvalue(),
        struct.pack("!4sIQ", b"rgf1", 2**32 - 1, 0),
        struct.pack("!4sIQ", b"rgf1", 2, 2**63) + b"{}",
    ],
)
def test_what_is_no_frame_is_refused_with_one_error(bad):
    with pytest.raises(FrameError):
        read_frame(io.BytesIO(bad))


@given(st.binary(max_size=200), st.integers(0, 200))
def test_random_bytes_never_do_more_than_be_refused(noise, cut):
    good = raw({"x": 1, "arrays": {"a": ["<f4", [3]]}}, bytes(64)).getvalue()
    mixed = good[:cut] + noise + good[cut:]
    with contextlib.suppress(FrameError):
        read_frame(io.BytesIO(mixed))


def test_a_frame_that_is_too_large_is_not_sent(monkeypatch):
    monkeypatch.setattr(frames, "MOST_BODY", 1000)
    with pytest.raises(FrameError, match="too large"):
        write_frame(io.BytesIO(), Frame({}, {"a": np.zeros(1000)}))
