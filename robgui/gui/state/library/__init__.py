"""Models and data: what is open, which pair is in use, what it answers."""
