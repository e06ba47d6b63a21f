"""Keras networks, computed by torch: ``.keras`` files, and HDF5 files of those who trust them."""

from __future__ import annotations

from robgui.core.loading.keras_files.model import load_keras

__all__ = ["load_keras"]
