"""The evidence of a report for an audit: what was tested, how surely, and what was not."""
