"""A comparison that is split into parts and merged is the comparison of the whole."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from robgui.core.dataset import from_arrays
from robgui.core.errors import ParamsError
from robgui.core.execution.registry import find
from tests.analyses.zonnscan.models import linear, small_mlp

KNOWN = find("zonnscan_populations")


def assert_merged_is_whole(classifier, data, parts: int, **values: object) -> None:
    params = KNOWN.params.parse(values)
    whole = list(KNOWN.engine(classifier, data, params))[-1]
    ranges = KNOWN.shards.split(params, len(data), parts)
    steps = [list(KNOWN.part(part).engine(classifier, data, params))[-1] for part in ranges]
    (last,) = KNOWN.merging(steps).engine(classifier, data, params)
    merged = last.result
    assert len(ranges) == parts
    assert (last.done, last.total, last.note) == (whole.done, whole.total, whole.note)
    for field in dataclasses.fields(merged):
        np.testing.assert_array_equal(
            getattr(merged, field.name), getattr(whole.result, field.name), err_msg=field.name
        )


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize("sampler", ["sobol", "antithetic", "plain"])
def test_merged_is_whole_bit_for_bit(parts, sampler):
    data = from_arrays(
        np.random.default_rng(0).random((23, 1, 6, 6), dtype=np.float32), np.arange(23) % 5
    )
    assert_merged_is_whole(small_mlp(), data, parts, sampler=sampler, samples=128)


def test_two_selections_of_different_size_are_split_in_proportion():
    data = from_arrays(np.random.default_rng(0).random((40, 2), dtype=np.float32))
    assert_merged_is_whole(
        linear([40.0, -40.0], 0.0), data, 4, against="rest", first=31, samples=64
    )


def test_a_seeded_choice_of_inputs_is_made_before_the_split():
    data = from_arrays(np.random.default_rng(0).random((60, 2), dtype=np.float32))
    assert_merged_is_whole(linear([40.0, -40.0], 0.0), data, 3, most=20, seed=5, samples=64)


def test_thumbnails_are_as_small_as_in_the_whole():
    data = from_arrays(np.random.default_rng(0).random((700, 1, 80, 80), dtype=np.float32))
    params = KNOWN.params.parse({"most": 0, "samples": 2, "sampler": "plain"})
    part = list(KNOWN.part(range(2)).engine(small_mlp((1, 80, 80)), data, params))[-1].result
    assert part.thumbnails.shape[1] < 64


def test_every_unit_is_in_one_part_and_no_part_is_empty():
    for count in (1, 2, 7, 100):
        params = KNOWN.params.parse({"most": 0})
        for most in (1, 3, 8, 1000):
            parts = KNOWN.shards.split(params, count, most)
            assert [unit for part in parts for unit in part] == list(range(count))
            assert len(parts) == min(most, count) and all(parts)


def test_an_analysis_without_shards_says_so():
    with pytest.raises(ParamsError, match="cannot be split"):
        find("zonnscan").part(range(1))
