"""IDs and tokens, derived from names so that a restarted workspace is the same workspace."""

from __future__ import annotations

import base64
import hashlib

_LENGTH = 10


def derive(prefix: str, *names: str) -> str:
    """A Slack-like ID (`C` or `U` or ... and ten characters) that depends on nothing but the names."""
    digest = hashlib.sha256("\x1f".join((prefix, *names)).encode()).digest()
    return prefix + base64.b32encode(digest).decode()[:_LENGTH]


def bot_token(app_name: str) -> str:
    """The bot's token."""
    return f"xoxb-local-{app_name}"


def app_token(app_name: str) -> str:
    """The app-level token, for Socket Mode."""
    return f"xapp-local-{app_name}"


def user_token(user_name: str) -> str:
    """A person's own token."""
    return f"xoxp-local-{user_name}"
