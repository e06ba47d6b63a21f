"""The open workspace: its runs and findings, what it brings along, what is written of it."""
