"""Tables of text: CSV and JSON, as rows or grouped into trajectories."""
