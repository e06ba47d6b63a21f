"""Tolerance: how much change each input can take, between what is proven and what breaks it."""
