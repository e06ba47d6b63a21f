"""The claims of the zoNNscan paper."""
