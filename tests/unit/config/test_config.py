"""config.yaml is refused at load, with file, line, key path and a way out, or it means what it says."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config import load, parse, read_secrets
from bot.config.crontab import parse_crontab
from bot.errors import ConfigError
from bot.model import Language, Layout
from bot.workspace.ids import app_token, bot_token

CHANNEL = 'channels:\n  - channel: "#vllm-digest"\n'


def refused(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse(text)
    return str(caught.value)


def test_an_empty_file_is_all_defaults() -> None:
    config = parse("")
    assert config.channels == ()
    assert config.delivery.pace == timedelta(seconds=1.1)


def test_a_channel_has_the_documented_defaults() -> None:
    channel = parse(CHANNEL).channels[0]
    assert channel.schedule.at == ("09:00",)
    assert channel.schedule.days == frozenset(range(5))
    assert channel.schedule.timezone == ZoneInfo("Asia/Shanghai")
    assert (channel.layout, channel.language, channel.first_run_limit) == (Layout.CHANNEL, Language.ZH, 20)


def test_the_shipped_file_is_valid_and_names_the_demo_channel() -> None:
    config = load(Path(__file__).parents[3] / "config.yaml", environ={})
    assert [channel.channel for channel in config.channels] == ["#vllm-digest"]
    assert config.inbox_path.is_dir()


@pytest.mark.parametrize("written", ["10:30", "09:30", "7:45:00", "23:59"])
def test_an_unquoted_time_is_refused_whether_yaml_reads_it_as_a_number_or_not(written: str) -> None:
    message = refused(f"{CHANNEL}    schedule:\n      at: {written}\n")
    assert message.startswith("config.yaml:4: channels[0].schedule.at: ")
    assert f'write "{written}"' in message


def test_an_unquoted_time_inside_a_list_is_refused_too() -> None:
    assert "config.yaml:4: channels[0].schedule.at[1]:" in refused(
        f'{CHANNEL}    schedule:\n      at: ["09:00", 10:30]\n'
    )


@pytest.mark.parametrize(
    ("text", "line", "path", "words"),
    [
        ("channels:\n  - channel: #vllm\n", 2, "channels[0].channel", '"#vllm"'),
        (f"{CHANNEL}    languag: zh\n", 3, "channels[0].languag", "did you mean language?"),
        (f"{CHANNEL}    language: no\n", 3, "channels[0].language", "false"),
        (f"{CHANNEL}    layout: treads\n", 3, "channels[0].layout", "did you mean thread?"),
        (f"{CHANNEL}    layout: thread\n    layout: compact\n", 4, "channels[0].layout", "twice (first on line 3)"),
        (f"{CHANNEL}    schedule: {{timezone: Asia/Shangai}}\n", 3, "channels[0].schedule.timezone", "Asia/Shanghai"),
        (f"{CHANNEL}    schedule: {{days: 1-5}}\n", 3, "channels[0].schedule.days", "name"),
        (f"{CHANNEL}    schedule: {{days: mon-fry}}\n", 3, "channels[0].schedule.days", "did you mean fri?"),
        (f'{CHANNEL}    first_run_limit: "20"\n', 3, "channels[0].first_run_limit", "whole number"),
        (f"{CHANNEL}    first_run_limit: yes\n", 3, "channels[0].first_run_limit", "true"),
        ("database: 12\n", 1, "database", "quotes"),
        ("database: true\n", 1, "database", "quotes"),
        ("delivery: {pace: 2}\n", 1, "delivery.pace", '"2s"'),
        ("delivery: {post_timeout: 20s}\n", 1, "delivery", "write lease: 41s or more"),
        ("delivery: {post_timeout: 2s, lease: 4s}\n", 1, "delivery", "write lease: 5s or more"),
        ("channels: {a: b}\n", 1, "channels", "list"),
        ("inbox: seeds\n", 1, "inbox", "group of keys"),
        ("base: x\n", 1, "base", "unknown key"),
        ("database_source: x\n", 1, "database_source", "unknown key"),
        ("on: 3\n", 1, "on", "unknown key"),
        ("channels:\n  - language: zh\n", 2, "channels[0].channel", "needed"),
        (f"{CHANNEL}{CHANNEL.removeprefix('channels:')[1:]}", 3, "channels[1].channel", "configured twice"),
        ("topics:\n  - id: rocm\n  - id: moe\n  - id: ROCm\n", 4, "topics[2].id", "ROCm is configured twice"),
        ('topics:\n  - id: ""\n', 2, "topics[0].id", "empty"),
        ('topics:\n  - id: a\n    zh:\n    - b\n    - " "\n', 5, "topics[0].zh[1]", "empty"),
        (
            f"{CHANNEL}    policy: {{include: {{topics: [rocm, '']}}}}\n",
            3,
            "channels[0].policy.include.topics[1]",
            "empty",
        ),
        (f"{CHANNEL}    policy: {{exclude: {{topics: [' ']}}}}\n", 3, "channels[0].policy.exclude.topics[0]", "empty"),
        (
            f"{CHANNEL}    policy: {{exclude: {{repositories: ['']}}}}\n",
            3,
            "channels[0].policy.exclude",
            "no repository",
        ),
        ('search: {glossary: [""]}\n', 1, "search.glossary[0]", "empty"),
        ("a: [", 1, "", "not valid YAML"),
        ("- 1\n", 1, "", "keys with values"),
        ("channels:\n  - channel: *x\n", 2, "", "double quotes"),
    ],
)
def test_a_fault_names_its_line_its_key_and_what_to_write(text: str, line: int, path: str, words: str) -> None:
    message = refused(text)
    assert f"config.yaml:{line}: {path}" in message
    assert words in message


def test_every_fault_is_told_at_once_in_the_order_of_the_file() -> None:
    lines = refused('channels:\n  - channel: "#v"\n    languag: zh\ninbx: 3\n').split("\n")
    assert [line.split(":")[1] for line in lines] == ["3", "4"]


def test_an_alias_that_repeats_itself_is_refused_and_does_not_hang() -> None:
    assert "alias" in refused("inbox: &a\n  path: *a\n")
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    assert "alias" in refused(bomb)


def test_dates_and_the_pause_are_dates() -> None:
    schedule = (
        parse(f"{CHANNEL}    schedule: {{skip_dates: [2026-12-25], pause_until: 2027-01-04}}\n").channels[0].schedule
    )
    assert schedule.skip_dates == (date(2026, 12, 25),)
    assert schedule.pause_until == date(2027, 1, 4)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("sqlite:///a.db", "sqlite:///{base}/a.db"),
        ("sqlite:///data/a.db?timeout=9", "sqlite:///{base}/data/a.db?timeout=9"),
        ("sqlite:////srv/a.db", "sqlite:////srv/a.db"),
        ("sqlite://", "sqlite://"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("postgresql://u@h/db", "postgresql://u@h/db"),
    ],
)
def test_a_relative_database_stands_beside_the_configuration_wherever_the_bot_is_started(
    tmp_path: Path, said: str, meant: str
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f'database: "{said}"\nchannels: [{{channel: C0123456789}}]\n', encoding="utf-8")
    assert load(file, environ={}).database == meant.format(base=tmp_path)


def test_the_environment_goes_before_the_file_for_the_database(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("database: sqlite:///a.db\n", encoding="utf-8")
    assert load(file, environ={}).database == f"sqlite:///{tmp_path / 'a.db'}"
    assert load(file, environ={"DATABASE_URL": "postgresql://x"}).database == "postgresql://x"


def test_a_missing_file_says_how_to_name_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--config"):
        load(tmp_path / "none.yaml", environ={})


def test_a_crontab_line_means_what_cron_means() -> None:
    # Cron: 0 and 7 are Sunday. 2026-03-07, a Saturday, must not be among 1-5.
    times, days = parse_crontab("30 9 * * 1-5")
    assert times == ("09:30",)
    assert date(2026, 3, 7).weekday() not in days
    assert days == frozenset({0, 1, 2, 3, 4})
    assert parse_crontab("0 9 * * 7")[1] == parse_crontab("0 9 * * 0")[1] == frozenset({6})
    assert parse_crontab("0 9 * * mon-fri")[1] == days
    assert parse_crontab("*/30 8-9 * * *")[0] == ("08:00", "08:30", "09:00", "09:30")


@pytest.mark.parametrize(
    "line", ["30 9 * *", "61 9 * * *", "30 9 1 * *", "30 9 * * 8", "30 9 * * 5-1", "@daily", "* * * * *"]
)
def test_a_crontab_line_that_cannot_be_a_slot_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_crontab(line)


def test_cron_and_at_together_are_refused() -> None:
    assert "keep one" in refused(f'{CHANNEL}    schedule: {{cron: "30 9 * * 1-5", at: "09:30"}}\n')


def test_missing_and_swapped_tokens_are_named_with_the_page_to_find_them() -> None:
    with pytest.raises(ConfigError) as caught:
        read_secrets({"SLACK_BOT_TOKEN": "xapp-1"}, http=False)
    assert "SLACK_BOT_TOKEN should start with xoxb-" in str(caught.value)
    assert "SLACK_APP_TOKEN is not set" in str(caught.value)


TOKENS = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("", "is not set"),
        (" ", "is not set"),
        ("{}1 ", "copy the token alone"),
        (" {}1", "copy the token alone"),
        ("{}1\n", "copy the token alone"),
        ("{}1 # the bot's", "copy the token alone"),
        ('"{}1"', "copy the token alone"),
        ("{}令牌", "copy the token alone"),
        ("{}1\u200b", "copy the token alone"),
        ("{}", "nothing after"),
        ("xoxp-1", "another token stands there"),
    ],
)
def test_a_token_that_no_request_can_carry_is_named(name: str, value: str, words: str) -> None:
    prefix = TOKENS[name].removesuffix("1")
    with pytest.raises(ConfigError, match=rf"^{name} .*{words}"):
        read_secrets({**TOKENS, name: value.format(prefix)}, http=False)
    if name == "SLACK_APP_TOKEN":
        read_secrets({**TOKENS, name: value.format(prefix), "SLACK_SIGNING_SECRET": "s"}, http=True)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("", "is not set"),
        ("\n", "is not set"),
        ("8f742231b10e ", "copy the secret alone"),
        ("8f742231b10e\n", "copy the secret alone"),
        ("8f742231\nb10e", "copy the secret alone"),
        ("'8f742231b10e'", "copy the secret alone"),
        ("签名密钥", "copy the secret alone"),
        ("8f742231b10e\u200b", "copy the secret alone"),
    ],
)
def test_a_signing_secret_that_slack_cannot_have_given_is_named_and_not_shown(value: str, words: str) -> None:
    with pytest.raises(ConfigError, match=rf"^SLACK_SIGNING_SECRET .*{words}") as caught:
        read_secrets({**TOKENS, "SLACK_SIGNING_SECRET": value}, http=True)
    assert "8f742231" not in str(caught.value)
    read_secrets({**TOKENS, "SLACK_SIGNING_SECRET": value}, http=False)


@pytest.mark.parametrize(
    "url",
    [
        "slack.com/api/",
        "127.0.0.1:8155/api/",
        "ftp://slack.com/api/",
        "file:///etc/hostname",
        "http://",
        "http:///api/",
        "https://slack.com:api/",
        "https://slack.com:99999/api/",
        "http://[::1/api/",
        " https://slack.com/api/",
        "https://slack.com/api/\n",
        "https://slack.com/ api/",
        "https://slack.com/api/?team=T1",
        "https://me@slack.com/api/",
        "https://例子.com/api/",
        " ",
    ],
)
def test_an_address_that_is_no_web_api_is_named(url: str) -> None:
    with pytest.raises(ConfigError, match=r"^SLACK_API_URL is not the address"):
        read_secrets({**TOKENS, "SLACK_API_URL": url}, http=False)


@pytest.mark.parametrize(
    ("bot", "app"),
    [
        ("xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy", "xapp-1-A0123456789-5051234567890-0a1b2c3d4e5f"),
        (bot_token("digest-bot"), app_token("digest-bot")),
        ("xoxb-1", "xapp-1"),
    ],
)
@pytest.mark.parametrize(
    "url", [None, "", "http://127.0.0.1:8155/api/", "http://[::1]:8155/api", "http://slack_local/api/", "HTTPS://x/"]
)
def test_what_slack_and_the_local_workspace_give_out_is_taken(bot: str, app: str, url: str | None) -> None:
    environ = {"SLACK_BOT_TOKEN": bot, "SLACK_APP_TOKEN": app} | ({} if url is None else {"SLACK_API_URL": url})
    secrets = read_secrets(environ, http=False)
    assert (secrets.bot_token, secrets.app_token) == (bot, app)
    assert secrets.api_url.startswith(url or "https://slack.com/api/")


def test_a_printed_secret_shows_no_token() -> None:
    secrets = read_secrets({"SLACK_BOT_TOKEN": "xoxb-1-secret", "SLACK_APP_TOKEN": "xapp-1-secret"}, http=False)
    assert "secret" not in repr(secrets).replace("signing_secret", "")


@given(st.text(max_size=200))
def test_any_text_is_a_configuration_or_a_configuration_error(text: str) -> None:
    faults = ""
    try:
        parse(text)
    except ConfigError as error:
        faults = str(error)
    assert all(line.startswith("config.yaml:") for line in faults.split("\n") if line)


@pytest.mark.parametrize("name", ["acme/secret-*", "acme-*/x", "*"])
def test_a_repository_is_confined_by_what_lookup_can_compare(name: str) -> None:
    with pytest.raises(ConfigError, match=r"is confined as|repository"):
        parse(f'search: {{confined: {{"{name}": ["#a"]}}}}\n')
