"""The form on the right: settings of an analysis, and Run, Pause and Stop."""
