"""Reading event logs and queues, each repository by one process."""
