"""The claims of the last particle paper."""
