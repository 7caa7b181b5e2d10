"""The exchange with the one person who acts, also when their act fails."""
