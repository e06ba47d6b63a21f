"""The claims of the feature game paper."""
