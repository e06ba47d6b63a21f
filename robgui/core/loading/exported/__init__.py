"""Exported programs (``.pt2``), read without torch's reader, run node by node under contracts."""

from robgui.core.loading.exported.program import load_exported

__all__ = ["load_exported"]
