"""Acts on queues and groups of queues, and the later life of a pause."""
