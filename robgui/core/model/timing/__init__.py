"""How long a model takes, measured and estimated."""
