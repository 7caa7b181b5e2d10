"""bot.store.migrations.versions"""
