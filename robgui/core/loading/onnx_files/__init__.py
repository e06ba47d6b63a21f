"""ONNX files, computed by onnxruntime, and by torch if a translation proves equal."""

from __future__ import annotations

from robgui.core.loading.onnx_files.model import load_onnx

__all__ = ["load_onnx"]
