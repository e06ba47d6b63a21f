"""Sampling in zones: base points, clouds, counts, and when to stop."""
