"""Tokens come from the environment only, and a printed `Secrets` shows none of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bot.errors import ConfigError

_AROUND = frozenset(" \"'")


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What the environment gives: tokens, the signing secret, and where Slack's Web API is."""

    bot_token: str = field(repr=False)
    app_token: str | None = field(default=None, repr=False)
    signing_secret: str | None = field(default=None, repr=False)
    api_url: str = "https://slack.com/api/"


def read_secrets(environ: Mapping[str, str], *, http: bool) -> Secrets:
    """Read the tokens that a way of running needs, and where Slack is.

    Raises ConfigError naming each variable that is missing, swapped with another, or of no use: asking Slack with it
    would look like a Slack that is away, and be waited for.
    """
    needed = {"SLACK_BOT_TOKEN": ("xoxb-", "OAuth & Permissions page, Bot User OAuth Token")}
    if http:
        needed["SLACK_SIGNING_SECRET"] = ("", "Basic Information page, Signing Secret")
    else:
        needed["SLACK_APP_TOKEN"] = (
            "xapp-",
            "Basic Information page, App-Level Tokens, scope connections:write",
        )
    problems = []
    for name, (prefix, place) in needed.items():
        value = environ.get(name, "")
        if not value.strip():
            problems.append(f"{name} is not set: take it from the app's {place}")
        elif not _is_plain(value):
            what = "token" if prefix else "secret"
            problems.append(f"{name} has a space or a sign that no {what} has: copy the {what} alone ({place})")
        elif not value.startswith(prefix):
            problems.append(f"{name} should start with {prefix}: another token stands there ({place})")
        elif value == prefix:
            problems.append(f"{name} has nothing after {prefix}: copy the whole token ({place})")
    api_url = environ.get("SLACK_API_URL") or "https://slack.com/api/"
    if not _is_web_address(api_url):
        problems.append(
            "SLACK_API_URL is not the address of a Web API: write it like http://127.0.0.1:8155/api/, or leave it out "
            "for Slack's own"
        )
    if problems:
        raise ConfigError("\n".join(problems))
    return Secrets(
        bot_token=environ["SLACK_BOT_TOKEN"],
        app_token=environ.get("SLACK_APP_TOKEN"),
        signing_secret=environ.get("SLACK_SIGNING_SECRET"),
        api_url=api_url if api_url.endswith("/") else api_url + "/",
    )


def _is_plain(value: str) -> bool:
    """Whether a header or a request line can hold it: ASCII that is seen, without spaces or quotes around it."""
    return value.isascii() and value.isprintable() and not _AROUND & set(value)


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    known = parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0
    # Methods are joined to its end, and nothing of ours says who asks in the address.
    return known and _is_plain(url) and not (parts.query or parts.fragment or parts.username)
