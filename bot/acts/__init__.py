"""What people do: the record and audit, permission, locks, the second person."""
