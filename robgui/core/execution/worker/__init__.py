"""A process of its own for models: this program's side and the worker's side."""
