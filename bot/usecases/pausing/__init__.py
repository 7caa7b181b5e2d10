"""Acts on queues and groups of queues, and what becomes of a pause as time goes on."""
