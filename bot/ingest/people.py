"""Find logins: `@name`, and Latin words that stand where people stand (njhill 对 … 的质疑)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from bot.text.scan import Piece
from bot.text.vocabulary import Vocabulary

_HANDLE = re.compile(r"(?<![A-Za-z0-9_./@`])@(?P<name>[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38})(?![A-Za-z0-9/(.]\w)")
_LATIN = re.compile(r"(?<![A-Za-z0-9_./@#-])[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*(?![A-Za-z0-9_/(:])(?!\.\w)")
_SHORTEST = 3
_LONGEST = 39
_BEFORE = 24


@dataclass(frozen=True, slots=True)
class _Patterns:
    after: re.Pattern[str]
    before: re.Pattern[str]
    with_next: re.Pattern[str]


def find_people(text: str, pieces: list[Piece], vocabulary: Vocabulary) -> tuple[str, ...]:
    """Give the logins in order of appearance, without `@`. Neither a word of the trade nor code is one."""
    patterns = _patterns(vocabulary)
    found: dict[int, str] = {}
    joined: list[tuple[int, int, str]] = []
    for start, end, word in _outside(_LATIN.finditer(text), pieces):
        if not _may_be_login(word, vocabulary):
            continue
        head = text[max(0, start - _BEFORE) : start]
        if patterns.after.match(text, end) or patterns.before.search(head):
            found[start] = word
        elif patterns.with_next.match(text, end):
            joined.append((start, end, word))
    # `njhill 与 orozery 的讨论`: the first is a person because the second is.
    for start, end, word in reversed(joined):
        following = patterns.with_next.match(text, end)
        if following is not None and following.end() in found:
            found[start] = word
    for start, _, handle in _outside(_HANDLE.finditer(text), pieces):
        if handle[1:].lower() not in vocabulary.not_handles:
            found[start] = handle[1:]
    return tuple(dict.fromkeys(found[place] for place in sorted(found)))


def _outside(matches: Iterable[re.Match[str]], pieces: list[Piece]) -> Iterator[tuple[int, int, str]]:
    index = 0
    for match in matches:
        while index < len(pieces) and pieces[index].end <= match.start():
            index += 1
        if index == len(pieces) or pieces[index].start >= match.end():
            yield match.start(), match.end(), match[0]


def _may_be_login(word: str, vocabulary: Vocabulary) -> bool:
    if not _SHORTEST <= len(word) <= _LONGEST or word.isupper():
        return False
    folded = word.lower()
    if folded in vocabulary.not_people or folded in vocabulary.products:
        return False
    topic = vocabulary.topic_tree.get(folded)
    if topic is not None and "" in topic:
        return False
    parts = folded.split("-")
    return len(parts) == 1 or not all(part in vocabulary.not_people or part in vocabulary.topic_tree for part in parts)


@lru_cache(maxsize=8)
def _patterns(vocabulary: Vocabulary) -> _Patterns:
    zh, en = vocabulary.people_zh, vocabulary.people_en
    deeds, verbs = _either(zh["deeds"]), _either(zh["verbs"])
    about = rf"\s*(?:对于|对|关于|就|针对|围绕)[^，。；！？\n]{{1,40}}?的[^，。；！？\n]{{0,10}}?(?:{deeds})"
    own = rf"\s*的[^，。；！？\n、]{{0,14}}?(?:{deeds})"
    does = rf"\s*(?:也|还|则|曾|后来|随后|在\s*review\s*中|在评审中|在讨论中)?\s*(?:{verbs})"
    english = rf"'s (?:\w+ ){{0,2}}(?:{_either(en['deeds'])})\b|(?: also| has)? (?:{_either(en['verbs'])})\b"
    by = rf"(?:{_either(zh['before'])}|{_either(en['before'])})(?:\s*@?|：|:)\s*"
    return _Patterns(
        after=re.compile(rf"{about}|{own}|{does}|{english}"),
        before=re.compile(rf"(?:{by})$"),
        with_next=re.compile(r"\s*(?:与|和|、|及|以及|,|，|and|or|或)\s*(?=[A-Za-z])"),
    )


def _either(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
