"""From stored events to deliveries: who is notified of what, and in which thread."""
