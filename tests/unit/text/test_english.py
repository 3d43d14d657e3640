from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.english import inflections, singular

LOWER = st.text(alphabet="abcdeginsty", max_size=12)


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        *(("blocks", "block"), ("caches", "cache"), ("batches", "batch"), ("branches", "branch"), ("hashes", "hash")),
        *(("prefixes", "prefix"), ("queries", "query"), ("classes", "class"), ("cookies", "cookie"), ("gpus", "gpu")),
        *(("status", "status"), ("analysis", "analysis"), ("process", "process"), ("alias", "alias"), ("ops", "ops")),
    ],
)
def test_plurals_fold_into_the_singular(plural: str, one: str) -> None:
    assert singular(plural) == one
    assert singular(one) == one


@pytest.mark.parametrize(
    ("word", "others"),
    [
        ("offload", {"offloaded", "offloading"}),
        ("cached", {"cache", "caching"}),
        ("caching", {"cache", "cached"}),
        ("retry", {"retried", "retrying"}),
        ("swapped", {"swap", "swapping"}),
        ("scaling", {"scale", "scaled"}),
    ],
)
def test_a_verb_is_found_in_its_other_forms(word: str, others: set[str]) -> None:
    assert others <= set(inflections(word))


@pytest.mark.parametrize("word", ["gpu", "ttft", "显存", "", "quantization", "scheduler", "fp8e4m3"])
def test_what_is_no_verb_stays_as_it_is(word: str) -> None:
    assert inflections(word) == ()


@given(LOWER)
def test_any_word_has_few_other_forms_and_none_is_itself(word: str) -> None:
    forms = inflections(word)
    assert len(forms) <= 8
    assert word not in forms
    assert all(form.isalpha() for form in forms)
