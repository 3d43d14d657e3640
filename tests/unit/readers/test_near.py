from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.readers.near import anchors, distance, is_chinese_word, nearest, sound_alike, spellings
from bot.text.glossary import shipped

LETTERS = st.text(alphabet="abc显", max_size=6)


@pytest.mark.parametrize(
    ("one", "two", "slips"),
    [
        ("rocm", "rocm", 0),
        ("rocm", "orcm", 1),
        ("rocm", "rcom", 1),
        ("kernel", "kernal", 1),
        ("attn", "attention", None),
    ],
)
def test_slips_are_counted_as_a_typist_makes_them(one: str, two: str, slips: int | None) -> None:
    assert distance(one, two, 2) == slips


@given(LETTERS, LETTERS)
def test_the_distance_is_the_same_both_ways(one: str, two: str) -> None:
    assert distance(one, two, 9) == distance(two, one, 9)
    assert (distance(one, two, 0) == 0) == (one == two)


# Misspellings and what was meant, written before the program was asked.
MISSPELT = [
    *(("sheduler", "scheduler"), ("quantizaton", "quantization"), ("specualtive decoding", "speculative decoding")),
    *(
        ("throughtput", "throughput"),
        ("attentoin", "attention"),
        ("tokeniser", "tokenizer"),
        ("flahs attn", "flash attn"),
    ),
    *(("preemtion", "preemption"), ("lantency", "latency"), ("dependancy", "dependency"), ("benchmrak", "benchmark")),
    *(
        ("embeding", "embedding"),
        ("concurency", "concurrency"),
        ("depricated", "deprecated"),
        ("vulnerabilty", "vulnerability"),
    ),
    *(("投鸡解码", "投机解码"), ("注意立", "注意力"), ("调渡器", "调度器"), ("编马器", "编码器"), ("吞土量", "吞吐量")),
    *(
        ("多摸态", "多模态"),
        ("量话权重", ""),
        ("强化学系", "强化学习"),
        ("负载均横", "负载均衡"),
        ("张量并形", "张量并行"),
    ),
]


def test_most_misspellings_lead_to_what_was_meant() -> None:
    judged = [(wrong, right) for wrong, right in MISSPELT if right]
    found = [right in nearest(wrong, shipped().words, limit=3) for wrong, right in judged]
    assert sum(found) / len(found) >= 0.9, [pair for pair, hit in zip(judged, found, strict=True) if not hit]


@pytest.mark.parametrize("word", ["", "x", "ci", "显存", "a" * 1000, "\x00", "🎉🎉🎉"])
def test_what_is_too_short_or_too_long_has_no_neighbours(word: str) -> None:
    assert nearest(word, ["显卡", "cd", "xx", "a" * 999], limit=3) == []


@pytest.mark.parametrize(
    ("one", "two", "alike"),
    [
        ("存", "寸", True),
        ("化", "划", True),
        ("锁", "所", True),
        ("存", "显", False),
        ("鑫", "心", False),
        ("存", "x", False),
    ],
)
def test_characters_of_one_sound_are_known_without_a_dictionary(one: str, two: str, alike: bool) -> None:  # noqa: FBT001
    assert sound_alike(one, two) is alike


def test_a_chinese_word_is_found_in_texts_in_another_spelling_what_sounds_alike_first() -> None:
    assert spellings("显寸", ["显卡、显存和显卡"], limit=3) == ["显存"]
    assert spellings("镜象分层", ["镜子分层 镜子分层", "镜像分层"], limit=3) == ["镜像分层", "镜子分层"]
    assert spellings("显存", ["显存"], limit=3) == []


@pytest.mark.parametrize("word", ["显寸", "零气炮", "梯度类积", "分页注意立"])
def test_whichever_character_is_wrong_some_part_is_right(word: str) -> None:
    for index in range(len(word)):
        spoilt = f"{word[:index]}〇{word[index + 1 :]}"
        assert any(all(part in spoilt for part in parts) for parts in anchors(word))


def test_only_chinese_words_of_some_length_are_heard() -> None:
    assert [is_chinese_word(word) for word in ("显", "显存", "显a", "显" * 13)] == [False, True, False, False]
