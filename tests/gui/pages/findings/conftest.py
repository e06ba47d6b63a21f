"""The same small store as the docks have."""

from __future__ import annotations

from tests.gui.docks.conftest import counting, dataset, filled, model, request_of, store

__all__ = ["counting", "dataset", "filled", "model", "request_of", "store"]
