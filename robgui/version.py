"""The version of robgui."""

__version__ = "0.2.0"
