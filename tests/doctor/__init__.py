"""Stories of queues, each with its true cause: what the doctor of queues is tried on."""
