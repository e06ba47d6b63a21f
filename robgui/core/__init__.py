"""Classifiers, datasets, requests and the workspace.

Everything that is not a method and not a window.
"""
