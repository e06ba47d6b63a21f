"""Pictures of every analysis in every place, side by side, for a person to look at."""
