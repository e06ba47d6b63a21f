"""Puts the list of parts into the metadata of the wheel (PEP 770) where one was made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LIST = "packaging/cdx.json"


class ListOfParts(BuildHookInterface):  # type: ignore[type-arg]
    """Without a list, as in an editable install, the wheel is made without it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Names the list to the builder."""
        if (Path(self.root) / LIST).is_file():
            build_data["sbom_files"].append(LIST)
