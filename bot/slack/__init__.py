"""Everything that knows Slack."""
