"""`python -m bot` is `digest-bot`."""

from bot.cli import main

if __name__ == "__main__":
    main()
