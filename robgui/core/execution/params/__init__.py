"""Settings as text: written, read and validated; thresholds of verdicts."""
