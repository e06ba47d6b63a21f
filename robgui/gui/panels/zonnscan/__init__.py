"""The panels of zoNNscan."""
