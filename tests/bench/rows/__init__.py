"""The measurements, one per module."""
