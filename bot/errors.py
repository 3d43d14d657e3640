"""One tree of errors. Each message tells the reader what to do next."""


class DigestBotError(Exception):
    """Anything this program raises on purpose."""


class ConfigError(DigestBotError):
    """The configuration cannot be used: the message names file, line, key and a suggestion for each fault."""


class StorageError(DigestBotError):
    """The database cannot be used."""


class StorageUnavailable(StorageError):
    """The database is away, locked, full or read-only for the moment. Waiting and trying again is right."""


class StorageRefused(StorageUnavailable):
    """The database's server is there and lets us in by no waiting: a wrong password, or no such role or database.

    A start ends with it; a bot that runs goes on asking, because a person may mend it at the server.
    """


class SchemaOutdated(StorageError):
    """The database has an older (or newer) schema than this program: run `digest-bot migrate`."""


class TemplateError(DigestBotError):
    """A message template cannot be used: the message names template, line and advice."""


class MessageInvalid(DigestBotError):
    """A rendered message breaks one of Slack's limits: the message names the block and the limit."""


class SlackUnavailable(DigestBotError):
    """Slack could not be asked, or refused to answer, a question that only reads."""


class PortInUse(DigestBotError):
    """A server of ours cannot listen because something else holds the port."""
