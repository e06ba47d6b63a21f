"""The largest box in which a class is shown to hold: its search, its test, its words."""
