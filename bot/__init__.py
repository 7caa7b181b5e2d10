"""mqbot: a Slack control room for merge queues."""

__version__ = "0.1.0"
