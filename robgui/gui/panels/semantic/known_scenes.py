"""KnownScenes: what a user may look at."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from robgui.analyses.semantic.params import IMAGE


class KnownScenes:
    """The input chosen in the gallery, the meshes that come with the program, and files."""

    def __init__(self) -> None:
        self._files: list[str] = []

    def add(self, specs: Iterable[str]) -> None:
        """Offers files that are not known yet, too."""
        known = self.words()
        self._files += [spec for spec in specs if spec not in known]

    def words(self) -> dict[str, str]:
        """What to call each scene."""
        from robgui.analyses.semantic.scene.meshes.shapes import bundled_meshes

        return {spec: scene_words(spec) for spec in (IMAGE, *bundled_meshes(), *self._files)}


def scene_words(spec: str) -> str:
    """What to call a scene: a file by its name."""
    if spec == IMAGE:
        return "The chosen input"
    if len(Path(spec).parts) > 1:
        return Path(spec).name
    return spec.replace("_", " ").capitalize()
