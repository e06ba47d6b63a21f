"""Classifier: a model with its settings, its backend and what it costs."""
