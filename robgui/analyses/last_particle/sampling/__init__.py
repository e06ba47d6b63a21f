"""Sampling besides the particles."""
