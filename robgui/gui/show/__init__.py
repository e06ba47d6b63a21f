"""Showing results to others: tour, guide, presentation, export."""
