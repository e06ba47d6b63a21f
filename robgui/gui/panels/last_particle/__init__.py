"""The panels of the last particle."""
