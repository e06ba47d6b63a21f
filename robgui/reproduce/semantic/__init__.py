"""The claims of the semantic robustness paper."""
