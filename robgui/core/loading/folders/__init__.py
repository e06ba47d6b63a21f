"""Models that are folders, from Hugging Face and timm; described by a document, never by code."""

from __future__ import annotations

from robgui.core.loading.folders.reading import load_folder

__all__ = ["load_folder"]
