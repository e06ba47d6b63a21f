"""Classifiers, datasets, requests and the workspace: everything that is not a method and not a
window.
"""
