"""The panels of the feature game."""
