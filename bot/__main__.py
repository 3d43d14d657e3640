"""`python -m bot` is `digest-bot`."""

import signal
import sys


def main() -> None:
    """The console script: `bot.cli`, imported with SIGHUP out of the way where a bot is to run.

    Until it runs there is nothing to reload, and a supervisor that says so early must not end it.
    """
    if sys.argv[1:2] == ["run"]:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    from bot.cli import main as run_verb  # noqa: PLC0415 - it takes a moment, in which the signal may come

    run_verb()


if __name__ == "__main__":
    main()
