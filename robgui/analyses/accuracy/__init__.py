"""Accuracy: what the labels say about a model, class by class and slice by slice."""
