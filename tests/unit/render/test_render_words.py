"""Our own words: the same keys and slots in both languages, plural forms, dates and zones."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.model import Language
from bot.render.words import Words

ZH, EN = Words(Language.ZH), Words(Language.EN)


def families(words: Words) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for key in words.keys:
        found.setdefault(key.partition("#")[0], set()).update(re.findall(r"\{(\w+)\}", words._strings[key]))
    return found


def test_both_languages_have_the_same_sentences_with_the_same_slots():
    zh, en = families(ZH), families(EN)
    assert zh.keys() == en.keys()
    for key, slots in zh.items():
        assert slots == en[key], key


@pytest.mark.parametrize(
    ("n", "sentence"),
    [(1, "1 entry, must read"), (2, "2 entries, all must read"), (21, "21 entries, all must read")],
)
def test_english_has_plural_forms(n, sentence):
    assert EN.count("all.must_read", n) == sentence


def test_chinese_says_one_in_its_own_way():
    assert ZH.count("all.must_read", 1) == "1 条，值得精读"
    assert ZH.count("all.must_read", 2) == "2 条，都值得精读"


def test_dates_are_written_as_the_language_writes_them():
    day = date(2026, 12, 1)
    assert (ZH.day(day), EN.day(day)) == ("12月1日 周二", "Tue 1 Dec")
    assert (ZH.date(day), EN.date(day)) == ("12月1日", "1 Dec")
    assert (ZH.date(day, today=date(2027, 1, 1)), EN.date(day, today=date(2027, 1, 1))) == (
        "2026年12月1日",
        "1 Dec 2026",
    )
    moment = datetime(2026, 12, 2, 9, 0, tzinfo=UTC)
    assert (ZH.moment(moment), EN.moment(moment)) == ("12月2日 09:00", "2 Dec 09:00")


@pytest.mark.parametrize(
    ("zone", "zh", "en"),
    [
        ("Asia/Shanghai", "上海时间", "Shanghai time"),
        ("Europe/Berlin", "柏林时间", "Berlin time"),
        ("America/New_York", "纽约时间", "New York time"),
        ("UTC", "UTC", "UTC"),
        ("Etc/GMT+8", "GMT+8", "GMT+8"),
    ],
)
def test_zones_have_names_in_words(zone, zh, en):
    assert (ZH.zone(ZoneInfo(zone)), EN.zone(ZoneInfo(zone))) == (zh, en)


def test_a_value_with_braces_stays_as_it_is():
    assert ZH.say("sentence.saved", title="{n} {title}") == "已收藏：{n} {title}"


def test_an_unknown_key_or_a_missing_value_is_an_error():
    with pytest.raises(KeyError):
        ZH.say("no.such.key")
    with pytest.raises(KeyError):
        ZH.say("sentence.saved")
