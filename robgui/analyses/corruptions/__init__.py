"""Corruptions: how accuracy falls under noise, blur, weather and compression."""
