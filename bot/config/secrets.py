"""Tokens come from the environment only, and a printed `Secrets` shows none of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What the environment gives: tokens, the signing secret, and where Slack's Web API is."""

    bot_token: str = field(repr=False)
    app_token: str | None = field(default=None, repr=False)
    signing_secret: str | None = field(default=None, repr=False)
    api_url: str = "https://slack.com/api/"


def read_secrets(environ: Mapping[str, str], *, http: bool) -> Secrets:
    """Read the tokens that a way of running needs. Raises ConfigError naming each missing or swapped variable."""
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
        if not value:
            problems.append(f"{name} is not set: take it from the app's {place}")
        elif not value.startswith(prefix):
            problems.append(f"{name} should start with {prefix}: another token stands there ({place})")
    if problems:
        raise ConfigError("\n".join(problems))
    api_url = environ.get("SLACK_API_URL") or "https://slack.com/api/"
    return Secrets(
        bot_token=environ["SLACK_BOT_TOKEN"],
        app_token=environ.get("SLACK_APP_TOKEN"),
        signing_secret=environ.get("SLACK_SIGNING_SECRET"),
        api_url=api_url if api_url.endswith("/") else api_url + "/",
    )
