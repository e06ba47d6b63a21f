"""The panels of DeepInspect."""
