"""Keras networks, computed by torch: ``.keras`` files, and HDF5 files that the user trusts."""

from __future__ import annotations

from robgui.core.loading.keras_files.model import load_keras

__all__ = ["load_keras"]
