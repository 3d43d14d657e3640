"""The verbs as a shell sees them: what they print, for a person or for a program, and how they end."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import structlog

from bot.cli import _VERBS, main
from tests.e2e.support import (
    ALL_ITEMS,
    FIRST,
    FIRST_ITEMS,
    SECOND,
    SHARED,
    clean_copy,
    digest,
    run_once,
)

BROKEN = "acme/widgets\n\nA title without a paragraph\n"


@pytest.fixture
def team(tmp_path, monkeypatch) -> Path:
    """A folder as a fresh checkout, and no database but its own."""
    clean_copy(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'bot.db'}")
    for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_API_URL", "PORT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def digest_bot(monkeypatch, capsys):
    """Run a verb in this process; return its exit code, standard output and standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["digest-bot", *words])
        capsys.readouterr()
        try:
            main()
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        return (code or 0) if isinstance(code, int | None) else 1, out, err

    handlers, level = list(logging.root.handlers), logging.root.level
    yield run
    # What a verb has set up would write to this test's captured output for ever.
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def as_json(digest_bot):
    def run(*words: str, code: int = 0):
        ended, out, err = digest_bot(*words)
        assert ended == code, out + err
        return json.loads(out)

    return run


@pytest.mark.parametrize("verb", _VERBS)
def test_every_verb_has_an_example_in_its_help(digest_bot, verb):
    code, out, _err = digest_bot(verb, "--help")
    assert code == 0
    assert re.search(rf"Example:\n(.*\n)*.*\$ .*digest-bot {verb}", out)


def test_every_verb_that_reads_the_configuration_takes_its_place(digest_bot):
    for verb in _VERBS:
        _code, out, _err = digest_bot(verb, "--help")
        assert "--config" in out or verb in ("workspace", "manifest"), verb


def test_help_names_every_verb_of_the_issue(digest_bot):
    _code, out, _err = digest_bot("--help")
    for verb in [
        "demo",
        "run",
        "workspace",
        "check",
        "migrate",
        "ingest",
        "documents",
        "parse",
        "preview",
        "search",
        "deliveries",
        "manifest",
    ]:
        assert re.search(rf"^  {verb} ", out, re.MULTILINE), verb


def test_parse_prints_source_entries_and_problems(team, as_json):
    report = as_json("parse", str(FIRST), "--json")
    assert report["source"] == FIRST.name
    assert report["problems"] == []
    assert [(one["title"], one["body"]) for one in report["entries"]] == FIRST_ITEMS
    assert {one["repo"] for one in report["entries"]} == {"vllm-project/vllm"}
    positions = [one["position"] for one in report["entries"]]
    assert positions == list(range(positions[0], positions[0] + 8))
    lines = FIRST.read_text("utf-8").split("\n")
    assert [lines[one["line"] - 1] for one in report["entries"]] == [item.title for item in FIRST_ITEMS]


def test_parse_of_a_broken_file_names_line_and_reason_and_ends_with_1(team, as_json):
    path = team / "broken.txt"
    path.write_text(BROKEN, "utf-8")
    (problem,) = as_json("parse", str(path), "--json", code=1)["problems"]
    assert problem["line"] == 3
    assert problem["reason"]


def test_parse_of_a_file_that_is_not_there_ends_with_2(team, digest_bot):
    code, _out, err = digest_bot("parse", "nowhere.txt")
    assert code == 2
    assert "nowhere.txt" in err


def test_ingest_takes_the_inbox_and_knows_it_the_second_time(team, as_json):
    first, second = as_json("ingest", "--json")["documents"]
    assert (first["appearances"], first["new_entries"]) == (8, 8)
    assert (second["appearances"], second["new_entries"]) == (8, 4)
    again = as_json("ingest", "--json")["documents"]
    assert [one["known"] for one in again] == [True, True]
    assert [one["new_entries"] for one in again] == [0, 0]


def test_ingest_of_named_files_takes_only_those(team, as_json):
    taken = as_json("ingest", str(SECOND), "--json")["documents"]
    assert [one["document"] for one in taken] == [SECOND.name]
    listed = as_json("documents", "--json")
    assert [one["document"] for one in listed] == [SECOND.name]


def test_a_broken_file_is_set_aside_with_its_line_and_its_neighbours_are_taken(team, as_json, digest_bot):
    for seed in (team / "seeds").iterdir():
        seed.unlink()
    (team / "seeds" / "1.txt").write_text(digest(("One", "值得精读。First.")), "utf-8")
    (team / "seeds" / "2.txt").write_text(BROKEN, "utf-8")
    (team / "seeds" / "3.txt").write_text(digest(("Three", "值得精读。Third.")), "utf-8")
    taken = as_json("ingest", "--json", code=1)["documents"]
    assert [one["state"] for one in taken] == ["accepted", "quarantined", "accepted"]
    (refused,) = as_json("documents", "--state", "quarantined", "--json")
    assert (refused["document"], refused["problems"][0]["line"]) == ("2.txt", 3)
    _code, out, _err = digest_bot("documents")
    assert "2.txt" in out


def test_search_prints_query_more_and_hits(team, as_json):
    as_json("ingest", "--json")
    answer = as_json("search", "vllm", "rocm", "--json")
    assert answer["query"] == "vllm rocm"
    assert answer["more"] is False
    best = answer["hits"][0]
    assert best["title"] == "稳定 ROCm CI Docker 构建上下文与源码缓存"
    assert best["repo"] == "vllm-project/vllm"
    assert set(best) >= {"entry_id", "repo", "title", "score", "editions"}
    limited = as_json("search", "值得", "--limit", "2", "--json")
    assert len(limited["hits"]) == 2
    assert limited["more"] is True
    shared = as_json("search", "repo:vllm", "layerwise", "--json")["hits"][0]
    assert shared["title"] == SHARED[0].title


def test_search_finds_chinese_by_english_and_english_by_chinese(team, as_json):
    as_json("ingest", "--json")
    title = "投机解码调度预算自适应，低并发 TTFT 最多降 65%"
    for words in ("投机解码", "speculative decoding"):
        assert title in [one["title"] for one in as_json("search", words, "--json")["hits"]], words


def test_search_takes_a_word_with_a_dash_as_the_query_language_has_it(team, as_json):
    as_json("ingest", "--json")
    every = {one["entry_id"] for one in as_json("search", "缓存", "--json", "--limit", "100")["hits"]}
    without = as_json("search", "缓存", "-ROCm", "--json", "--limit", "100")
    assert without["query"] == "缓存 -ROCm"
    assert {one["entry_id"] for one in without["hits"]} < every


def test_search_without_a_hit_says_so_and_is_no_failure(team, as_json):
    as_json("ingest", "--json")
    answer = as_json("search", "kubernetes", "--json")
    reading = {
        "repo": None,
        "relaxed": False,
        "terms": [{"word": "kubernetes", "any_of": ["kubernete", "kuberneted", "kuberneting"]}],
    }
    assert answer == {
        "query": "kubernetes",
        "hint": None,
        "readings": [reading],
        "relaxed": False,
        "total": 0,
        "total_more": False,
        "more": False,
        "hits": [],
        "tried": [],
        "near": [],
    }


def test_search_in_json_says_what_was_tried_and_what_would_find_something(team, as_json):
    as_json("ingest", "--json")
    answer = as_json("search", "vllm", "kubernetes", "layerwize", "--json")
    assert [(one["repo"], one["relaxed"]) for one in answer["readings"]] == [("vllm", False), (None, False)]
    assert [one["word"] for one in answer["readings"][1]["terms"]] == ["vllm", "kubernetes", "layerwize"]
    assert answer["tried"] == [
        {"word": "vllm", "count": 10, "more": True},
        {"word": "kubernetes", "count": 0, "more": False},
        {"word": "layerwize", "count": 0, "more": False},
    ]
    assert as_json("search", "vllm", "layerwize", "--json")["near"] == ["vllm layerwise"]


def test_search_in_json_gives_the_form_that_found_and_what_was_not_understood(team, as_json):
    as_json("ingest", "--json")
    answer = as_json("search", "投机解码的低并发", "colour:red", "repo:", "--json")
    assert answer["hits"] == []
    assert answer["hint"]["kind"] == "unknown_qualifier"
    assert answer["hint"]["value"] == "colour"
    assert "There is no colour" in answer["hint"]["text"]
    answer = as_json("search", "投机解码低并发", "--json")
    assert answer["hits"]
    assert answer["relaxed"] is True
    assert [one["relaxed"] for one in answer["readings"]] == [False, True]
    words = {term["word"]: term["any_of"] for term in answer["readings"][-1]["terms"]}
    assert {"投机解码", "speculative decoding"} <= set(words["投机解码"])
    assert (answer["total"], answer["total_more"]) == (len(answer["hits"]), False)


def test_deliveries_prints_a_list_in_the_order_of_sending(team, as_json, digest_bot):
    assert as_json("deliveries", "--json") == []
    code, out, err = digest_bot("demo", "--once", "--port", "0")
    assert code == 0, out + err
    rows = [one for one in as_json("deliveries", "--json") if one["kind"] in ("root", "entry")]
    assert len(rows) == 13
    for row in rows:
        assert set(row) >= {"channel", "entry_id", "kind", "state", "ts", "attempts", "error"}
        assert (row["state"], row["attempts"], row["error"]) == ("sent", 1, None)
    assert [one["kind"] for one in rows] == ["root", *["entry"] * 12]
    assert [one["ts"] for one in rows] == sorted(one["ts"] for one in rows)
    assert rows[0]["entry_id"] is None
    assert as_json("deliveries", "--state", "held", "--json") == []
    code, out, err = digest_bot("deliveries", "retry", rows[3].get("key", "0")[:8])
    assert code == 1, "what was sent is not sent again at a person's word"


def test_manifest_is_one_of_two_kinds_with_at_most_eight_scopes(as_json):
    socket, http = as_json("manifest"), as_json("manifest", "--http", "https://digest.example.com")
    assert socket["settings"]["socket_mode_enabled"] is True
    assert http["settings"]["socket_mode_enabled"] is False
    assert "https://digest.example.com/slack/events" in json.dumps(http)
    assert "https://" not in json.dumps(socket["features"])
    for one in (socket, http):
        assert 1 <= len(one["oauth_config"]["scopes"]["bot"]) <= 8
        assert one["features"]["slash_commands"][0]["command"] == "/digest"


def test_manifest_is_printed_as_it_is_read(digest_bot):
    out = digest_bot("manifest", "--language", "zh")[1]
    assert "收藏导读" in out
    assert "\\u" not in out


def test_migrate_makes_the_schema_and_then_finds_it_there(team, digest_bot):
    assert digest_bot("migrate")[0] == 0
    code, out, _err = digest_bot("migrate")
    assert code == 0
    assert "already" in out


def test_reindex_leaves_what_is_found_as_it_was(team, as_json, digest_bot):
    as_json("ingest", "--json")
    before = as_json("search", "rocm", "--json")
    code, out, err = digest_bot("reindex")
    assert code == 0, out + err
    assert as_json("search", "rocm", "--json") == before


def test_check_is_content_with_a_fresh_checkout_and_names_what_is_wrong(team, digest_bot):
    code, out, err = digest_bot("check")
    assert code == 0, out + err
    config = (team / "config.yaml").read_text("utf-8")
    (team / "config.yaml").write_text(config.replace("path: seeds", "path: nowhere"), "utf-8")
    code, out, _err = digest_bot("check")
    assert code == 1
    assert "nowhere" in out


POLICIES = """
channels:
  - channel: "#typo"
    policy: {include: {repositories: [vllm, vlm-project/vllm], topics: [ROCM, rocmm, 没有的词]}}
  - channel: "#never"
    policy: {include: {repositories: [vllm]}, exclude: {repositories: ["vllm-project/*"]}}
  - channel: "#fine"
    policy: {include: {repositories: ["vllm-project/*"], topics: [rocm]}, exclude: {topics: [没有的词]}}
  - channel: "#all"
"""


@pytest.mark.parametrize("taken", [False, True])
def test_check_warns_of_what_a_channel_asks_for_and_nothing_has(team, digest_bot, taken):
    (team / "config.yaml").write_text(POLICIES, "utf-8")
    if taken:
        assert digest_bot("ingest")[0] == 0
        for path in (team / "seeds").iterdir():
            path.unlink()
    code, out, _err = digest_bot("check")
    assert code == 0
    warnings = [line.partition("warning: ")[2] for line in out.split("\n") if "warning: " in line]
    assert [(line.split(":")[0], line.rpartition(": ")[2]) for line in warnings[:3]] == [
        ("#typo", "vlm-project/vllm (did you mean vllm-project/vllm?)"),
        ("#typo", "rocmm (did you mean ROCm?)"),
        ("#typo", "没有的词"),
    ]
    (last,) = warnings[3:]
    assert last.startswith("#never: ")
    assert "policy as a whole" in last
    assert (team / "bot.db").exists() == taken


def test_check_warns_of_no_policy_before_anything_has_arrived(team, digest_bot):
    (team / "config.yaml").write_text(POLICIES, "utf-8")
    for path in (team / "seeds").iterdir():
        path.unlink()
    code, out, _err = digest_bot("check")
    assert (code, out.count("warning")) == (0, 0)


@pytest.mark.parametrize("verb", ["check", "migrate", "ingest", "status", "demo"])
def test_a_database_that_cannot_be_one_is_blamed_on_where_it_was_said(team, digest_bot, monkeypatch, verb):
    words = (verb, "--once", "--port", "0") if verb == "demo" else (verb,)
    path = team / "config.yaml"
    text = re.sub(r"(?m)^database:.*\n", "", path.read_text("utf-8"))
    path.write_text(f'{text}\ndatabase: "mysql://x/y"\n', "utf-8")
    line = path.read_text("utf-8").split("\n").index('database: "mysql://x/y"') + 1
    monkeypatch.setenv("DATABASE_URL", "digest.db")
    code, _out, err = digest_bot(*words)
    assert (code, err.count("\n")) == (2, 1)
    assert "DATABASE_URL is not a URL" in err
    if verb == "demo":
        return  # without DATABASE_URL it has a database of its own
    monkeypatch.delenv("DATABASE_URL")
    code, _out, err = digest_bot(*words)
    assert code == 2
    assert f"config.yaml:{line}: database names 'mysql'" in err
    assert "DATABASE_URL" not in err


@pytest.mark.parametrize("kept", [None, 15, 4096, 100_000])
def test_a_file_that_is_no_database_or_half_of_one_is_named_with_what_to_do_by_every_verb(
    team, digest_bot, monkeypatch, kept
):
    path = team / "bot.db"
    assert digest_bot("migrate")[0] == 0
    path.write_bytes(bytes(range(255, 0, -1)) * 100 if kept is None else path.read_bytes()[:kept])
    left = path.read_bytes()
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    monkeypatch.setenv("SLACK_APP_TOKEN", "xapp-1")
    for words in [
        ("run",),
        ("demo", "--once", "--port", "0"),
        ("check",),
        ("migrate",),
        ("ingest",),
        ("documents",),
        ("search", "rocm"),
        ("deliveries",),
        ("deliveries", "settle", "3f2a", "1796086800.000100"),
        ("deliveries", "retry", "3f2a"),
        ("status",),
        ("reindex", "--all"),
    ]:
        code, _out, err = digest_bot(*words)
        assert code == 2, (words, err)
        assert str(path) in err, words
        assert "put a backup in its place" in err, words
        assert "Traceback" not in err, words
    assert path.read_bytes() == left, "what is left of it is a person's to mend"


@pytest.mark.parametrize("empty", [False, True])
def test_no_verb_begins_anew_beside_the_copy_of_a_lost_database(team, digest_bot, monkeypatch, empty):
    path = team / "bot.db"
    assert digest_bot("ingest")[0] == 0
    copy, older = team / "bot.db.rescued-2", team / "bot.db.rescued"
    path.rename(copy)
    older.write_bytes(b"an older one")
    os.utime(older, (1, 1))
    for name in ("bot.db.rescued-2-wal", "bot.db.rescued.17.tmp"):
        (team / name).touch()
    (team / "bot.db-wal").write_bytes(b"what a killed bot has left")
    if empty:
        path.touch()
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    monkeypatch.setenv("SLACK_APP_TOKEN", "xapp-1")
    said = set()
    for words in [
        ("demo", "--once", "--port", "0"),
        ("migrate",),
        ("ingest",),
        ("documents",),
        ("search", "rocm"),
        ("deliveries",),
        ("deliveries", "retry", "3f2a"),
        ("status",),
        ("reindex", "--all"),
        ("run",),
    ]:
        code, _out, err = digest_bot(*words)
        assert code == 2, (words, err)
        said.add(err)
        assert path.exists() == empty, words
    (sentence,) = said
    assert f"remove {older} and {copy} to begin anew" in sentence
    code, out, _err = digest_bot("check")
    assert code == 1
    assert sentence.removeprefix("digest-bot: ") in out
    assert digest_bot("check")[0] == 1, "looking makes nothing"
    subprocess.run(sentence.split("`")[1], shell=True, check=True)
    code, out, _err = digest_bot("documents")
    assert code == 0
    assert "000_382cd8b32110c293.txt" in out
    path.unlink()
    older.unlink()
    assert digest_bot("status")[0] == 0, "the copies are gone: a person wants to begin anew"


def test_status_asks_for_somebody_only_where_something_is_wrong(team, as_json, digest_bot):
    assert digest_bot("demo", "--once", "--port", "0")[0] == 0
    as_json("status", "--json")
    (team / "seeds" / "2.txt").write_text(BROKEN, "utf-8")
    digest_bot("ingest")
    report = as_json("status", "--json", code=1)
    assert "2.txt" in json.dumps(report)


READING = [("status",), ("documents",), ("deliveries",), ("search", "rocm"), ("deliveries", "retry", "3f2a")]


@pytest.mark.parametrize("words", READING)
def test_reading_makes_no_database_and_says_how_to_begin(team, digest_bot, words):
    code, _out, err = digest_bot(*words)
    assert code == ("retry" in words)
    assert f"no database {team / 'bot.db'} yet" in err
    assert "`digest-bot ingest`" in err
    assert not (team / "bot.db").exists()
    if "retry" not in words:
        json.loads(digest_bot(*words, "--json")[1])


def test_an_archive_without_entries_says_how_to_begin(team, digest_bot):
    assert digest_bot("migrate")[0] == 0
    code, out, err = digest_bot("search", "rocm")
    assert (code, out) == (0, "Nothing found.\n")
    assert "no entries yet: `digest-bot ingest`" in err
    assert digest_bot("ingest")[0] == 0
    assert digest_bot("search", "rocm")[2] == ""


LONG_NAME = f"{'a_rather_long_name_' * 8}.txt"


def test_status_says_once_what_was_set_aside_and_when_the_next_digest_comes(team, digest_bot):
    (team / "config.yaml").write_text(
        'channels: [{channel: "#vllm-digest"}, {channel: "#never", schedule: {days: mon, pause_until: 2031-01-01}}]\n'
        'alerts: {channel: "#ops"}\n',
        "utf-8",
    )
    (team / "seeds" / LONG_NAME).write_text(BROKEN, "utf-8")
    assert digest_bot("demo", "--once", "--port", "0")[0] == 1
    code, out, _err = digest_bot("status")
    assert (code, out.count(LONG_NAME)) == (1, 1)
    assert re.search(rf"{LONG_NAME} is set aside since \d{{4}}-\d\d-\d\d \d\d:\d\d Asia/Shanghai, line 3: ", out)
    assert re.search(
        r"#vllm-digest \(C\w+\): 0 messages wait, next digest \w{3} \d{4}-\d\d-\d\d 09:00 Asia/Shanghai\n", out
    )
    assert "next digest Mon 2031-01-06 09:00 Asia/Shanghai\n" in out
    assert re.search(r"#ops \(C\w+\): 0 messages wait, for alerts\n", out)


def test_documents_shows_names_whole_and_a_line_a_file(team, digest_bot):
    (team / "seeds" / LONG_NAME).write_text(BROKEN, "utf-8")
    digest_bot("ingest")
    lines = digest_bot("documents")[1].rstrip().split("\n")
    assert [name in line for name, line in zip([FIRST.name, SECOND.name, LONG_NAME], lines[1:], strict=True)] == [
        True
    ] * 3


@pytest.mark.parametrize("form", ["text", "blocks", "html"])
def test_preview_shows_a_file_without_token_or_database(team, digest_bot, form):
    code, out, err = digest_bot("preview", str(FIRST), "--format", form)
    assert code == 0, out + err
    for item in FIRST_ITEMS:
        assert item.title in out.replace("\\n", "\n")
    assert not (team / "bot.db").exists(), "a preview keeps nothing"
    if form == "html":
        assert out.lstrip().lower().startswith("<!doctype html>")
    if form == "blocks":
        assert json.loads(out)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('at: "09:00"', "at: 10:30", ["config.yaml:", "at", "quote", "10:30"]),
        ("Asia/Shanghai\n\nchannels", "Asia/Shangai\n\nchannels", ["config.yaml:", "timezone", "Asia/Shanghai"]),
        ("layout: channel", "layuot: channel", ["config.yaml:", "layuot", "layout"]),
    ],
)
def test_a_configuration_with_a_mistake_cannot_run_and_says_where_and_what_instead(team, digest_bot, old, new, words):
    path = team / "config.yaml"
    text = re.sub(r" +#.*", "", path.read_text("utf-8"))
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    code, _out, err = digest_bot("ingest")
    assert code == 2
    for word in words:
        assert word in err


def test_run_without_tokens_cannot_run_and_names_each_without_a_trace(team):
    answer = run_once("run", cwd=team)
    assert answer.returncode == 2
    assert "SLACK_BOT_TOKEN" in answer.stderr
    assert "SLACK_APP_TOKEN" in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SLACK_API_URL", "slack.com/api/"),
        ("SLACK_BOT_TOKEN", "xapp-local-digest-bot"),
        ("SLACK_BOT_TOKEN", "xoxb-令牌"),
        ("SLACK_APP_TOKEN", "xoxb-local-digest-bot"),
        ("SLACK_APP_TOKEN", "xapp-local digest-bot"),
    ],
)
def test_run_ends_at_once_over_what_slack_cannot_be_asked_with(team, name, value):
    tokens = {"SLACK_BOT_TOKEN": "xoxb-local-digest-bot", "SLACK_APP_TOKEN": "xapp-local-digest-bot"}
    answer = run_once("run", cwd=team, **{**tokens, "SLACK_API_URL": "http://127.0.0.1:9/api/", name: value})
    assert answer.returncode == 2
    (said,) = answer.stderr.splitlines()
    assert said.startswith(f"digest-bot: {name} ")


def test_run_over_http_without_a_port_says_to_set_one(team, digest_bot, monkeypatch):
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    monkeypatch.setenv("SLACK_SIGNING_SECRET", "secret")
    code, _out, err = digest_bot("run", "--http")
    assert code == 2
    assert "PORT" in err


def test_a_token_that_is_no_bot_token_is_never_printed(team, digest_bot, monkeypatch):
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xapp-very-secret")
    monkeypatch.setenv("SLACK_APP_TOKEN", "xoxb-very-secret")
    code, out, err = digest_bot("run")
    assert code == 2
    assert "very-secret" not in out + err


def test_the_two_seeds_hold_sixteen_appearances_of_twelve_entries():
    """What every other expectation here rests on, counted without the bot's help."""
    assert (len(FIRST_ITEMS), len(SHARED), len(ALL_ITEMS)) == (8, 4, 12)
