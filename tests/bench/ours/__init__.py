"""The bot, or a part of it, as a program that is measured."""
