"""Remembers how accurate a model was on data, by content of both, and reports a drop.

A model that is fed wrongly looks like a bad model. If it was right more often on the same inputs
before, its settings have changed, not the network.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import Any

from robgui.core.errors import ModelError
from robgui.core.model.settings import ModelSettings, parse
from robgui.core.records import Records

_RECORDS = Records("accuracies")
#: Other hardware may flip a prediction here and there; a drop smaller than this is ignored.
FALL = 0.02


@dataclass(frozen=True, slots=True)
class MeasuredAccuracy:
    """How often a model was right.

    Attributes:
        right: Inputs it had right.
        counted: Inputs with a label.
        settings: How it was fed.
        when: Seconds since 1970.
    """

    right: int
    counted: int
    settings: ModelSettings
    when: float

    @property
    def share(self) -> float:
        """The share that was right."""
        return self.right / self.counted


def note(
    content: str, data: str, right: int, counted: int, settings: ModelSettings
) -> MeasuredAccuracy | None:
    """Stores how often a model is right; returns the earlier figure if that was clearly higher.

    Args:
        content: Digest of the model's weights.
        data: Fingerprint of the inputs.
        right: Inputs it has right.
        counted: Inputs with a label.
        settings: How it was fed.
    """
    key = _key(content, data)
    before = _read(key)
    record = {
        "right": right,
        "counted": counted,
        "settings": settings.model_dump(mode="json"),
        "when": time.time(),
    }
    _RECORDS.write(key, record)
    # Other inputs were labelled or readable then, so the two figures do not compare.
    if before is None or before.counted != counted:
        return None
    if before.share - right / counted > FALL:
        return before
    return None


def measured(content: str, data: str) -> MeasuredAccuracy | None:
    """The last measured accuracy of a model on these data; None if never measured.

    Args:
        content: Digest of the model's weights.
        data: Fingerprint of the inputs.
    """
    return _read(_key(content, data))


def _key(content: str, data: str) -> str:
    return hashlib.sha256(f"{content}|{data}".encode()).hexdigest()


def _read(key: str) -> MeasuredAccuracy | None:
    """The stored figure; None if the record is damaged or of another version."""
    record: dict[str, Any] = _RECORDS.read(key) or {}
    right, counted, when = (record.get(name) for name in ("right", "counted", "when"))
    if not (isinstance(right, int) and isinstance(counted, int) and isinstance(when, int | float)):
        return None
    try:
        settings = parse(record.get("settings") or {}, "the record")
    except ModelError:
        return None
    if 0 <= right <= counted != 0:
        return MeasuredAccuracy(right, counted, settings, when)
    return None
