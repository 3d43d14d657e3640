"""A team's own templates: used where they are good, passed over where they are not, and somebody hears of it."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from bot.cli import cli
from bot.storage.listing import list_alerts
from tests.e2e.support import Item, digest, first_line, plain

MONDAY, TUESDAY = "2026-11-30", "2026-12-01"
SHORT = Item("修复调度器死锁", "值得精读。锁的顺序反了。")
LONG = Item("很长的标题" * 40, "建议阅读。标题太长，放不进 header。")
OWN = (
    '[\n  {{ header(title_text) if title_text|length < 100 else none }},\n  {{ rich_text(verdict, "\\n", body) }}\n]\n'
)
FRAGILE = (
    "[\n  {{ rich_text(body) }},\n"
    '  {"type": "header", "text": {"type": "plain_text", "text": {{ title_text }}, "emoji": false}}\n]\n'
)


@pytest.fixture
def own(make_morning):
    """A morning whose channel has a template of its own."""

    def made(source: str, name: str = "entry"):
        morning = make_morning(f"{MONDAY} 08:00")
        (morning.folder / "own").mkdir()
        path = morning.folder / "own" / f"{name}.json.j2"
        path.write_text(source, "utf-8")
        morning.start(channel="templates: own")
        return morning, path

    return made


def alerts(morning) -> list[dict]:
    return list_alerts(morning.bot.archive.database)


def test_a_channel_s_own_template_shapes_its_messages_and_the_others_stay_built_in(own):
    morning, _ = own(OWN)
    morning.drop("today.txt", digest(SHORT, LONG))
    morning.at(f"{MONDAY} 09:00")
    root, first, second = morning.channel.messages()
    assert [block["type"] for block in root["blocks"]] == ["rich_text"]
    assert [block["type"] for block in first["blocks"]] == ["header", "rich_text"]
    assert plain(first) == f"{SHORT.title}\n精读\n{SHORT.body}"
    assert [block["type"] for block in second["blocks"]] == ["rich_text"]
    assert alerts(morning) == []


def test_a_template_that_breaks_for_one_entry_is_passed_over_for_that_one_and_told_once(own):
    morning, _ = own(FRAGILE)
    morning.drop("today.txt", digest(SHORT, LONG, LONG._replace(title=LONG.title + "二")))
    for minute in range(3):
        morning.at(f"{MONDAY} 09:{minute:02}")
    _, first, *others = morning.channel.messages()
    assert [block["type"] for block in first["blocks"]] == ["rich_text", "header"]
    assert [first_line(one) for one in others] == [LONG.title, LONG.title + "二"]
    assert all([block["type"] for block in one["blocks"]] == ["rich_text"] for one in others)
    (told,) = [plain(one) for one in morning.ops.messages()]
    assert "Your template entry was not used" in told
    assert "entry, line 3: block 2 (header): " in told
    assert "at most 150" in told
    (noted,) = alerts(morning)
    assert "entry, line 3: block 2 (header)" in str(noted)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ('[\n  {{ rich_text("{{ title }}") }},\n  "{{ title }}"\n]', "entry, line "),
        ("[\n\n  {{ titel }}\n]", "entry, line 3: titel is not defined; did you mean title?"),
        ("[\n  {% include 'root.json.j2' %}\n]", "entry, line 2: "),
        ("[\n  {{ ''.__class__.__mro__ }}\n]", "entry"),
        ("[\n  {{ rich_text(body)\n]", "entry, line "),
    ],
)
def test_a_template_that_cannot_be_used_at_all_never_stands_in_the_way(own, source, reason):
    morning, _ = own(source)
    morning.drop("today.txt", digest(SHORT))
    morning.at(f"{MONDAY} 09:00")
    _, entry = morning.channel.messages()
    assert plain(entry) == f"{SHORT.title}\n{SHORT.body}"
    (told,) = [plain(one) for one in morning.ops.messages()]
    assert reason in told


def test_a_mended_template_counts_after_a_reload_and_ends_the_alert(own):
    morning, path = own("[\n  {{ titel }}\n]")
    morning.drop("monday.txt", digest(SHORT))
    morning.at(f"{MONDAY} 09:00")
    assert len(alerts(morning)) == 1

    path.write_text(OWN, "utf-8")
    morning.bot.reload()
    morning.drop("tuesday.txt", digest(SHORT._replace(title="第二天的一条", body="建议阅读。换了模板。")))
    morning.at(f"{TUESDAY} 09:00")

    assert alerts(morning) == []
    last = morning.channel.messages()[-1]
    assert plain(last) == "第二天的一条\n建议\n建议阅读。换了模板。"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("[\n  {{ titel }}\n]", "entry, line 2: titel is not defined; did you mean title?"),
        (FRAGILE, "entry, line 3: block 2 (header): "),
        (
            "[{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}]",
            "entry, line 1: makes more",
        ),
    ],
)
def test_a_template_that_is_broken_at_a_reload_is_refused_and_the_one_so_far_stays(own, broken, reason):
    morning, path = own(OWN)
    morning.drop("monday.txt", digest(SHORT))
    morning.at(f"{MONDAY} 09:00")
    path.write_text(broken, "utf-8")
    config = morning.bot.config
    for _ in range(2):
        morning.bot.reload()

    assert morning.bot.config is config
    (told,) = [plain(one) for one in morning.ops.messages()]
    assert told.startswith("The new templates are refused")
    assert f"{path.parent}: {reason}" in told
    morning.drop("tuesday.txt", digest(SHORT._replace(title="第二天的一条", body="建议阅读。模板没有换。")))
    morning.at(f"{TUESDAY} 09:00")
    assert plain(morning.channel.messages()[-1]) == "第二天的一条\n建议\n建议阅读。模板没有换。"

    path.write_text(OWN, "utf-8")
    morning.bot.reload()
    assert alerts(morning) == []


def test_a_template_mended_before_a_start_ends_the_alert_too(own):
    morning, path = own("[\n  {{ titel }}\n]")
    morning.drop("monday.txt", digest(SHORT))
    morning.at(f"{MONDAY} 09:00")
    path.unlink()
    morning.start(channel="templates: own")
    assert alerts(morning) == []


def test_check_names_folder_template_line_and_block_for_team_and_channel(tmp_path):
    for folder, source in (("team", FRAGILE), ("own", "[\n  {{ titel }}\n]")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "entry.json.j2").write_text(source, "utf-8")
    (tmp_path / "seeds").mkdir()
    config = tmp_path / "config.yaml"
    config.write_text(
        'templates: team\nchannels:\n  - channel: "#one"\n  - channel: "#two"\n    templates: own\n', "utf-8"
    )
    answer = CliRunner().invoke(cli, ["check", "--config", str(config)], catch_exceptions=False)
    assert answer.exit_code == 1
    said = answer.output.splitlines()
    assert any("/team: entry, line 3: block 2 (header): " in line for line in said)
    assert any("/own: entry, line 2: titel is not defined; did you mean title?" in line for line in said)
    assert "inbox: ok" in said
