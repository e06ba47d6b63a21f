"""Accuracy: what the labels say of a model, class by class and slice by slice."""
