"""Versions."""

cuda = "12.4"
hip = None
