"""What events of the queue are told as."""
