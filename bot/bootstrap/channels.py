"""Which Slack channel each entry of the configuration means: a name is looked up once and then kept as an ID."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Protocol

import structlog

from bot.bootstrap.policies import channel_policy
from bot.config import ChannelConfig, Config
from bot.delivery.policy import ChannelPolicy
from bot.delivery.ports import Alarm
from bot.errors import SlackUnavailable
from bot.model import Channel

_log = structlog.get_logger("bot.channels")


class Names(Protocol):
    """Names that were looked up."""

    def channel_named(self, team_id: str, name: str) -> str | None:
        """Return the ID that this name was found to have, or None."""

    def name_channel(self, team_id: str, name: str, channel_id: str, now: datetime) -> str:
        """Remember the ID of a name; return the one that is remembered (another replica may have been first)."""


class Finder(Protocol):
    """Asks Slack."""

    def channel_id(self, name: str) -> str | None:
        """Return the ID of a channel by its name, or None. Raises SlackUnavailable."""


class Channels:
    """Resolves the configuration's channels, as far as they exist."""

    def __init__(self, *, team_id: str, names: Names, finder: Finder) -> None:
        self._team_id = team_id
        self._names = names
        self._finder = finder
        self._known: dict[str, Channel] = {}

    def resolve(self, reference: str, now: datetime) -> Channel | None:
        """The channel that an ID or a `#name` means; None where Slack shows the bot no such channel.

        Raises SlackUnavailable, StorageUnavailable.
        """
        if not reference.startswith("#"):
            return Channel(team_id=self._team_id, channel_id=reference)
        if reference not in self._known:
            found = self._names.channel_named(self._team_id, reference)
            if found is None:
                asked = self._finder.channel_id(reference)
                found = asked and self._names.name_channel(self._team_id, reference, asked, now)
            if not found:
                return None
            self._known[reference] = Channel(team_id=self._team_id, channel_id=found)
        return self._known[reference]

    def policies(
        self, config: Config, *, repos: Collection[str], alarm: Alarm, now: datetime
    ) -> Mapping[Channel, ChannelPolicy]:
        """The policies of all channels that could be resolved; people hear of the others."""
        found: dict[Channel, ChannelPolicy] = {}
        for channel in config.channels:
            resolved = self._resolve_or_tell(channel.channel, alarm, now)
            if resolved is None:
                continue
            if resolved in found:
                alarm.raise_alert(
                    f"channel-twice:{resolved.channel_id}",
                    f"config.yaml names {channel.channel} twice, by name and by ID: the first entry counts.",
                )
                continue
            found[resolved] = channel_policy(config, channel, resolved, many_repos=many_repos(channel, repos))
        return found

    def confined(self, config: Config, *, alarm: Alarm, now: datetime) -> dict[str, tuple[Channel, ...]]:
        """Repositories that only some channels may find. A channel that cannot be resolved finds nothing."""
        return {repo: self._all(references, alarm, now) for repo, references in config.search.confined.items()}

    def _all(self, references: Iterable[str], alarm: Alarm, now: datetime) -> tuple[Channel, ...]:
        resolved = (self._resolve_or_tell(reference, alarm, now) for reference in references)
        return tuple(channel for channel in resolved if channel is not None)

    def _resolve_or_tell(self, reference: str, alarm: Alarm, now: datetime) -> Channel | None:
        cause = f"channel-unknown:{reference}"
        try:
            channel = self.resolve(reference, now)
        except SlackUnavailable as error:
            _log.warning("channel_not_looked_up", channel=reference, error=str(error))
            return None
        if channel is None:
            alarm.raise_alert(
                cause,
                f"Slack shows the bot no channel {reference}: create it, and bring the bot in with /invite "
                "(a private channel is visible to its members only).",
            )
            return None
        alarm.clear(cause)
        return channel


def many_repos(channel: ChannelConfig, repos: Collection[str]) -> bool:
    """Whether entries of several of `repos` can reach the channel, so that each says which one it is about."""
    include, exclude = channel.policy.include.repositories, channel.policy.exclude.repositories
    wanted = [repo for repo in repos if (not include or _named(include, repo)) and not _named(exclude, repo)]
    return len(wanted) > 1


def _named(patterns: Iterable[str], repo: str) -> bool:
    folded = repo.casefold()
    return any(
        fnmatchcase(folded if "/" in pattern else folded.rpartition("/")[2], pattern.casefold()) for pattern in patterns
    )
