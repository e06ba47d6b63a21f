"""Trackers of experiments (MLflow, Weights & Biases): runs of a workspace, logged where they are
installed. Nothing is sent anywhere unless the user has set the tracker up to do so.
"""
