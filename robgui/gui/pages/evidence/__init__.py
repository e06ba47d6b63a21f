"""Dialogs about evidence: why a finding came about, and what a model makes of its tests."""
