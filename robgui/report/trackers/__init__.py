"""Logs runs of a workspace to MLflow or Weights & Biases, where installed.

Nothing is sent anywhere unless the user has set the tracker up to do so.
"""
