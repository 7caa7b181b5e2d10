"""Posts deliveries and live messages to Slack, once and in order."""
