"""The report of `mqbot check`: what was found, and how to fix it."""
