"""Random numbers that are the same on every device."""

from __future__ import annotations

import torch

from robgui.core.model.randomness import host_generator, host_integers, host_order


def test_the_same_seed_gives_the_same_numbers_on_the_host() -> None:
    first, again, other = (host_integers(1000, 50, host_generator(seed)) for seed in (3, 3, 4))
    assert torch.equal(first, again) and not torch.equal(first, other)
    assert first.device.type == "cpu" and int(first.min()) >= 0 and int(first.max()) < 1000


def test_an_order_holds_every_number_once() -> None:
    assert sorted(host_order(100, host_generator(0)).tolist()) == list(range(100))
