"""The first lines of `mqbot` and `python -m bot`: signals, then the command line."""

from bot.runtime.signals import take_signals


def main() -> None:
    """Run the command line."""
    take_signals()
    # Imported late: until the signals are taken, any of them ends the process.
    from bot.cli.main import main as command_line  # noqa: PLC0415 - see above

    command_line()


if __name__ == "__main__":
    main()
