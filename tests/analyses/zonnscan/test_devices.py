"""What must hold on a GPU, proven without one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analyses.zonnscan.models import small_mlp, sweep
from tests.guards import count_host_syncs, no_deviceless_factories


@pytest.mark.parametrize("zone", ["linf", "box", "l2", "l1_clipped"])
@pytest.mark.parametrize("sampler", ["sobol", "antithetic", "plain"])
def test_every_tensor_is_made_on_a_named_device(zone: str, sampler: str) -> None:
    classifier = small_mlp()
    x = np.full((2 if zone == "box" else 1, 1, 6, 6), 0.5)
    with no_deviceless_factories():
        result = sweep(classifier, x, zone=zone, sampler=sampler, samples=64, radii=(0.0, 0.3, 0.8))
    assert np.isfinite(result.index).all()


def test_host_waits_follow_the_batches_never_the_samples() -> None:
    classifier = small_mlp()
    counts = []
    for samples in (1024, 8192):
        with count_host_syncs() as syncs:
            sweep(
                classifier,
                np.full((1, 6, 6), 0.5),
                samples=samples,
                target_half_width=0,
                radii=(0.2, 0.4),
            )
        counts.append(syncs.total)
    assert counts[1] < counts[0] + 200 and counts[1] < 8192 / 16
