"""bot.store.migrations"""
