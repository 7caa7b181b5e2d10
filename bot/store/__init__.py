"""The database: SQLite or PostgreSQL, through SQLAlchemy Core."""
