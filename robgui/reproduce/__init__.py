"""The papers' claims, method by method."""
