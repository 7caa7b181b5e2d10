"""What the service's event log says, stored."""
