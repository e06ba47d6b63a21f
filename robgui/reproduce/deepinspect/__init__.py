"""The claims of the DeepInspect paper."""
