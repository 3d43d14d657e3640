"""Names for the identifiers that blocks carry."""

from __future__ import annotations

from typing import Protocol


class Resolver(Protocol):
    """Turns identifiers into names. Never raises: an unknown identifier is its own name."""

    def user(self, user_id: str, /) -> str:
        """Return the display name of a user or an app, without `@`."""
        ...

    def channel(self, channel_id: str, /) -> str:
        """Return the name of a channel, without `#`."""
        ...


class PlainResolver:
    """A resolver that knows nobody: every identifier stands for itself."""

    def user(self, user_id: str, /) -> str:
        """Return the identifier."""
        return user_id

    def channel(self, channel_id: str, /) -> str:
        """Return the identifier."""
        return channel_id
