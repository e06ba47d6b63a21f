"""Whether gradients lead from an input to its failures."""

from __future__ import annotations

from robgui.analyses.last_particle.noise.margin import uses_probabilities
from robgui.analyses.last_particle.params import MethodParams
from robgui.core.model.classifier import Classifier


def no_way(classifier: Classifier, params: MethodParams) -> str:
    """Why gradients do not lead to failures, to follow a colon; empty if they do."""
    if params.noise in ("jpeg", "ball"):
        return f"gradients do not lead through {params.noise} noise."
    if not classifier.capabilities.gradients or uses_probabilities(classifier, params.margin):
        return (
            f"{classifier.name} gives no gradients to find them by,"
            f" {classifier.capabilities.reason or 'its score is a count of votes'}."
        )
    return ""
