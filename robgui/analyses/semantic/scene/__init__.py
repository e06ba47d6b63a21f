"""Scenes: semantic parameters become images."""
