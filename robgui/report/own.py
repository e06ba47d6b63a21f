"""What the user puts on top of a report: a title, some text and a logo; kept in the workspace."""

from __future__ import annotations

import base64
import binascii
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robgui.core.errors import DataError
from robgui.core.regular import read_regular

if TYPE_CHECKING:
    from robgui.core.workspace import Workspace

_OWN = "report"
#: A workspace may come from anyone: letters of title and text, bytes and pixels of a logo.
_LONGEST_TITLE, _LONGEST_TEXT, _LARGEST = 300, 20_000, 4_000_000
#: Longest side of a logo that is kept, and most bytes of its file.
_SIDE, _LARGEST_FILE = 480, 50_000_000


@dataclass(frozen=True, slots=True)
class Own:
    """The user's part of a report.

    Attributes:
        title: Replaces the report's own title; empty keeps it.
        text: Paragraphs below the title; empty for none.
        logo: The bytes of a PNG file; empty for none.
    """

    title: str = ""
    text: str = ""
    logo: bytes = b""

    @property
    def paragraphs(self) -> list[str]:
        """The text by lines, without empty ones."""
        return [line.strip() for line in self.text.splitlines() if line.strip()]

    def pixels(self) -> np.ndarray | None:
        """The logo as uint8 ``(h, w, 3)`` on white; None without one that can be read."""
        from PIL import Image

        if not self.logo:
            return None
        try:
            # PNG alone: the workspace may come from anyone, and Pillow reads dozens of formats.
            with Image.open(io.BytesIO(self.logo), formats=("PNG",)) as image:
                picture = image.convert("RGBA")
        except (OSError, ValueError):
            return None
        ground = Image.new("RGBA", picture.size, "white")
        return np.asarray(Image.alpha_composite(ground, picture).convert("RGB"))


def read_logo(path: Path) -> bytes:
    """A picture file as the bytes of a small PNG file; DataError if it is none."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(read_regular(path, _LARGEST_FILE))) as image:
            image.thumbnail((_SIDE, _SIDE))
            buffer = io.BytesIO()
            image.convert("RGBA").save(buffer, "png", optimize=True)
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"{path.name} is no picture that can be read; choose another.") from error
    return buffer.getvalue()


def read_own(workspace: Workspace) -> Own:
    """What a workspace has stored; anything malformed is dropped."""
    stored = workspace.values.get(_OWN)
    if not isinstance(stored, dict):
        return Own()
    title, text, logo = (stored.get(name) for name in ("title", "text", "logo"))
    return Own(
        title[:_LONGEST_TITLE] if isinstance(title, str) else "",
        text[:_LONGEST_TEXT] if isinstance(text, str) else "",
        _bytes(logo) if isinstance(logo, str) else b"",
    )


def write_own(workspace: Workspace, own: Own) -> None:
    """Stores it, replacing what was there."""
    logo = base64.b64encode(own.logo).decode()
    workspace.values.set(_OWN, {"title": own.title, "text": own.text, "logo": logo})


def _bytes(text: str) -> bytes:
    if len(text) > _LARGEST:
        return b""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
