"""An inspection that is split into parts and merged is the inspection of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robgui.core.codec import encode
from robgui.core.execution.registry import find
from robgui.core.npz import unzip
from tests.analyses.deepinspect.nets import images, small_cnn

KNOWN = find("deepinspect")


def flat(result: Any) -> tuple[Any, dict[str, np.ndarray]]:
    document, blob = encode(result)
    return document, unzip(blob)


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize(("labelled", "multi_label"), [(True, False), (False, False), (True, True)])
def test_merged_is_whole_bit_for_bit(parts: int, labelled: bool, multi_label: bool):
    classifier, data = small_cnn(multi_label=multi_label), images(61, labels=labelled)
    params = KNOWN.params.parse({})
    whole = list(KNOWN.engine(classifier, data, params))[-1]
    ranges = KNOWN.shards.split(params, len(data), parts)
    steps = [list(KNOWN.part(part).engine(classifier, data, params))[-1] for part in ranges]
    (merged,) = KNOWN.merging(steps).engine(classifier, data, params)
    assert (merged.done, merged.total) == (whole.done, whole.total)
    (one, arrays), (two, others) = flat(whole.result), flat(merged.result)
    assert one == two
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, others[name], err_msg=name)
