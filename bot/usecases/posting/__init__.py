"""From deliveries and cards to Slack, once and in order."""
