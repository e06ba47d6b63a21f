"""Samples in zones: base points, clouds, what is counted, when enough is known."""
