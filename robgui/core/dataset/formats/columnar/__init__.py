"""Parquet and Arrow tables."""
