"""How statements are run in transactions, on SQLite and PostgreSQL alike."""
