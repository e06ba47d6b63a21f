"""The pretended devices for every test of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.devices.pretend.device import Card, pretending


@pytest.fixture(autouse=True)
def cards() -> Iterator[tuple[Card, ...]]:
    """``pretend:0`` and ``pretend:1``, counting from nothing."""
    with pretending() as devices:
        yield devices
