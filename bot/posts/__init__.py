"""The outbox, sending, live messages, summaries."""
