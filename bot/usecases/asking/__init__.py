"""What people ask: the live queue, and what of the service and of the record tells more."""
