"""Acting on groups of queues."""
