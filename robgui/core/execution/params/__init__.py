"""Settings as text: written, read, and what is wrong with them; thresholds of verdicts."""
