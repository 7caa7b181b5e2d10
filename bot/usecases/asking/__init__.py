"""Answers to people's questions, from the live queue, the service and the store."""
