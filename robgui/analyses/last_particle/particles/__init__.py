"""The particles: their moves, their lanes, and what the counts of a test say."""
