"""From the event log to channels: poll, read, explain, route."""
