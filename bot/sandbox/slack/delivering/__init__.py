"""Delivers events and requests to the app."""
