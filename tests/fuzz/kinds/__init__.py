"""Every kind of file that the program opens."""

from __future__ import annotations

from tests.fuzz.kinds import data, documents, models, networks, operations, stores
from tests.fuzz.kinds.kind import Kind


def every_kind(files: int) -> dict[str, Kind]:
    """The kinds by name, for a round of ``files``."""
    found = [
        *models.kinds(),
        *networks.kinds(),
        *operations.kinds(files),
        *data.kinds(),
        *stores.kinds(),
        *documents.kinds(),
    ]
    return {kind.name: kind for kind in found}
