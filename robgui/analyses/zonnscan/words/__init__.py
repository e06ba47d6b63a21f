"""What the results of zoNNscan say: verdicts, findings, offers."""
