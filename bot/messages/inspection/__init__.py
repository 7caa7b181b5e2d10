"""The report of `mqbot check`: what was found, and what mends it."""
