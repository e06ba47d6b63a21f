"""From a finding or a figure to tests, an explanation, or the run behind it."""
