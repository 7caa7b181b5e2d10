"""Runs the revisions on the connection that `bot.store.migrate` opened."""

from alembic import context

from bot.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite changes a column only by copying its table.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
