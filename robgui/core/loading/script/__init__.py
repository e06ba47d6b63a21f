"""TorchScript files."""

from robgui.core.loading.script.reader import load_script

__all__ = ["load_script"]
