"""A local Slack workspace that unmodified clients connect to by address."""
