from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.normalise import fold, fold_with_offsets, normalise, unescape


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("ＲＯＣｍ　構建", "ROCm 构建"),
        ("“KV cache”", '"KV cache"'),
        ("「缓存」", '"缓存"'),
        ("it’s", "it's"),
        ("—allowed-media-domains", "--allowed-media-domains"),
        ("spec‑decode", "spec-decode"),
        ("vl\u200blm\ufeff", "vllm"),
        ("ﬁx", "fix"),
        ("顯存洩漏", "显存泄漏"),
        ("：，；", ":,;"),
    ],
)
def test_spellings_of_one_text_become_equal(written: str, meant: str) -> None:
    assert fold(written) == meant


def test_case_is_kept_for_splitting_and_dropped_for_comparing() -> None:
    assert fold("FlashAttention") == "FlashAttention"
    assert normalise("FlashAttention") == "flashattention"


@pytest.mark.parametrize(
    ("sent", "typed"),
    [("a &amp;&amp; b", "a && b"), ("&lt;T&gt;", "<T>"), ("&amp;lt;", "<"), ("R&D", "R&D"), ("&copy;", "&copy;")],
)
def test_the_entities_that_slack_sends_are_read_back(sent: str, typed: str) -> None:
    assert unescape(sent) == typed


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_every_folded_character_knows_where_it_came_from(text: str) -> None:
    folded, offsets = fold_with_offsets(text)
    assert len(offsets) == len(folded) + 1
    assert offsets[-1] == len(text)
    assert all(fold(text[offset])[:1] for offset in offsets[:-1])
    assert offsets == sorted(offsets)
