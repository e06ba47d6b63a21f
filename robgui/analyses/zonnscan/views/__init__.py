"""What the results of zoNNscan look like."""
