"""Meshes: their shape, their files, their paint."""
