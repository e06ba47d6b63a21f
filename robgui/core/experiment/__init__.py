"""Experiment: the run behind a figure, as it travels inside the figure's own file."""

from robgui.core.experiment.carrying import carries, experiments_in
from robgui.core.experiment.record import Experiment, experiment_of

__all__ = ["Experiment", "carries", "experiment_of", "experiments_in"]
