"""Which Slack channel each entry of the configuration means: a name is looked up once and then kept as an ID."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Protocol

import structlog

from bot.bootstrap.policies import channel_policy
from bot.config import ChannelConfig, Config
from bot.delivery.person import Alarm
from bot.delivery.policy import ChannelPolicy
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

    def channel_ids(self, names: Collection[str]) -> Mapping[str, str]:
        """Return the IDs of those channels that there are, by their names. Raises SlackUnavailable."""


class Channels:
    """Resolves the configuration's channels, as far as they exist."""

    def __init__(self, *, team_id: str, names: Names, finder: Finder) -> None:
        self._team_id = team_id
        self._names = names
        self._finder = finder
        self._known: dict[str, Channel] = {}
        self._away: SlackUnavailable | None = None

    def look_up(self, config: Config, now: datetime) -> None:
        """Learn all names of the configuration that are not known yet, by one question to Slack.

        Raises StorageUnavailable. Where Slack cannot be asked, `resolve` says so.
        """
        references = [channel.channel for channel in config.channels]
        references += [config.alerts.channel] if config.alerts.channel else []
        references += [reference for of_repo in config.search.confined.values() for reference in of_repo]
        missing: list[str] = []
        for name in dict.fromkeys(one for one in references if one.startswith("#") and one not in self._known):
            found = self._names.channel_named(self._team_id, name)
            if found is None:
                missing.append(name)
            else:
                self._known[name] = Channel(team_id=self._team_id, channel_id=found)
        self._away = None
        if not missing:
            return
        try:
            asked = self._finder.channel_ids(missing)
        except SlackUnavailable as error:
            self._away = error
            return
        for name, channel_id in asked.items():
            kept = self._names.name_channel(self._team_id, name, channel_id, now)
            self._known[name] = Channel(team_id=self._team_id, channel_id=kept)

    def resolve(self, reference: str) -> Channel | None:
        """The channel that an ID or a `#name` means; None where Slack shows the bot no such channel.

        Knows what `look_up` has found. Raises SlackUnavailable where Slack could not be asked.
        """
        if not reference.startswith("#"):
            return Channel(team_id=self._team_id, channel_id=reference)
        if reference not in self._known and self._away is not None:
            raise SlackUnavailable(str(self._away)) from self._away
        return self._known.get(reference)

    def policies(self, config: Config, *, repos: Collection[str], alarm: Alarm) -> Mapping[Channel, ChannelPolicy]:
        """The policies of all channels that could be resolved; people hear of the others."""
        found: dict[Channel, ChannelPolicy] = {}
        for channel in config.channels:
            resolved = self._resolve_or_tell(channel.channel, alarm)
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

    def confined(self, config: Config, *, alarm: Alarm) -> dict[str, tuple[Channel, ...]]:
        """Repositories that only some channels may find. A channel that cannot be resolved finds nothing."""
        return {repo: self._all(references, alarm) for repo, references in config.search.confined.items()}

    def _all(self, references: Iterable[str], alarm: Alarm) -> tuple[Channel, ...]:
        resolved = (self._resolve_or_tell(reference, alarm) for reference in references)
        return tuple(channel for channel in resolved if channel is not None)

    def _resolve_or_tell(self, reference: str, alarm: Alarm) -> Channel | None:
        cause = f"channel-unknown:{reference}"
        try:
            channel = self.resolve(reference)
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
