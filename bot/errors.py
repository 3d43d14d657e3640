"""One tree of errors. Each message tells the reader what to do next."""


class DigestBotError(Exception):
    """Anything this program raises on purpose."""


class ConfigError(DigestBotError):
    """The configuration cannot be used: the message names file, line, key and a suggestion for each fault."""


class StorageError(DigestBotError):
    """The database cannot be used."""


class StorageUnavailable(StorageError):
    """The database is away, locked or full for the moment. Waiting and trying again is right."""


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
