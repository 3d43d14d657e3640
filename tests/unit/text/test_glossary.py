from __future__ import annotations

import pytest

from bot.text.glossary import FaultKind, Form, Glossary, shipped
from bot.text.tokens import phrase


def form(*parts: str) -> Form:
    found = [phrase(part) for part in parts]
    return tuple(each for each in found if each is not None)


def kinds(*lines: str) -> list[FaultKind]:
    return [fault.kind for fault in Glossary(lines).contradictions()]


def test_equals_find_each_other() -> None:
    glossary = Glossary(["显存, gpu memory, vram"])
    assert glossary.meanings(form("vram")) == (form("显存"), form("gpu memory"))
    assert glossary.meanings(form("显存")) == (form("gpu memory"), form("vram"))


def test_the_broader_word_finds_the_narrower_and_not_the_reverse() -> None:
    glossary = Glossary(["微调, finetune", "微调 > LoRA"])
    assert glossary.meanings(form("微调")) == (form("finetune"), form("LoRA"), form("lora"))
    assert glossary.meanings(form("lora")) == ()


def test_two_words_that_need_not_be_adjacent_are_one_form_in_any_order() -> None:
    glossary = Glossary(["memory leak, 显存 & 泄漏"])
    assert glossary.meanings(form("泄漏", "显存")) == (form("memory leak"),)
    assert set(glossary.meanings(form("memory leak"))[0]) == set(form("显存", "泄漏"))


@pytest.mark.parametrize("spelling", ["KV-Cache", "kv_cache", "ＫＶ　ｃａｃｈｅ", "KV caches", "KVCache"])
def test_spelling_does_not_matter(spelling: str) -> None:
    assert Glossary(["KV cache, 键值缓存"]).meanings(form(spelling)) == (form("键值缓存"),)


def test_a_team_adds_lines_of_its_own() -> None:
    glossary = shipped().extended(["凤凰, project phoenix"])
    assert glossary.meanings(form("凤凰")) == (form("project phoenix"),)
    assert glossary.knows(form("显存"))
    assert not shipped().knows(form("凤凰"))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["a1, b1", "c1 > d1"], []),
        (["a1, A1, b1"], [FaultKind.REPEATED]),
        (["a1"], [FaultKind.EMPTY]),
        (["a1, ?!"], [FaultKind.EMPTY, FaultKind.EMPTY]),
        (["a1 > "], [FaultKind.EMPTY]),
        (["a1, b1, c1", "b1, a1"], [FaultKind.SHADOWED]),
        (["a1, b1", "b1, c1"], [FaultKind.OVERLAP]),
        (["a1, b1", "a1 > b1"], [FaultKind.CONTRADICTION]),
        (["a1 > b1", "b1 > a1"], [FaultKind.CONTRADICTION]),
        (["a1 > b1, c1", "a1 > c1"], [FaultKind.SHADOWED]),
        (["微调, finetune", "微调 > LoRA"], []),
    ],
)
def test_lines_that_contradict_or_shadow_each_other_are_reported(lines: list[str], expected: list[FaultKind]) -> None:
    assert kinds(*lines) == expected


def test_the_shipped_glossary_is_broad_and_has_no_fault() -> None:
    assert shipped().contradictions() == []
    assert len(shipped().words) >= 600


def test_the_shipped_glossary_crosses_the_languages_nearly_everywhere() -> None:
    chinese = [word for word in shipped().words if any("\u4e00" <= character <= "\u9fff" for character in word)]
    assert 200 <= len(chinese) <= len(shipped().words) - 200
