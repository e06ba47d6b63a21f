"""Widgets that know nothing of an analysis: plots, pictures, tables, toasts."""
