"""From stored events to deliveries: who hears of what, and in which thread."""
