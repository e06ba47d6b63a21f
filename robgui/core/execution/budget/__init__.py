"""What a run costs, and how long it may take."""
