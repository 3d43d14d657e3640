"""Examples for the help text, taken from what the archive holds, so that each of them finds something."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import islice, pairwise

from bot.model import Channel, Entry
from bot.readers.answer import Answers
from bot.render.views import HelpView
from bot.text.glossary import Glossary
from bot.text.tokens import phrase

_LOOKED_AT = 12
"""Entries of the newest edition whose words are tried."""
_TRIED = 12
"""Searches for one example, at most."""
_LATIN = re.compile(r"(?<![\w./-])[A-Za-z][A-Za-z0-9]{2,15}(?![\w./-])")
_PAIR = re.compile(r"(?<![\w./-])([A-Za-z][A-Za-z0-9]{1,15} [A-Za-z][A-Za-z0-9]{1,15})(?![\w./-])")
_DIGITS = re.compile(r"\d+")


class Examples:
    """Makes the examples of one channel."""

    def __init__(self, answers: Answers, *, glossary: Glossary, spellings: Callable[[str], Sequence[str]]) -> None:
        """`spellings` gives the names of a topic by its id: Chinese, then English, then any others."""
        self._answers = answers
        self._glossary = glossary
        self._spellings = spellings

    def of(self, channel: Channel | None, *, newest: date | None, today: date) -> HelpView:
        """Return examples from the newest edition; the built-in ones where there is nothing to take them from.

        Raises StorageUnavailable.
        """
        usual = HelpView()
        entries = self._entries(channel, newest)
        if newest is None or not entries:
            return usual

        def found(queries: Iterable[str]) -> str | None:
            tried = islice(dict.fromkeys(queries), _TRIED)
            return next((query for query in tried if self._finds(query, channel, today)), None)

        words = found(self._pairs_of_words(entries))
        first = words.split()[0] if words else ""
        return HelpView(
            words=words or usual.words,
            phrase=found(f'"{pair}"' for pair in _phrases(entries)) or usual.phrase,
            without=found(f"{first} -{other}" for other in self._others(entries, first)) or usual.without,
            repository=f"repo:{entries[0].repo.rpartition('/')[2]}",
            more=tuple(
                query
                for query in (
                    found(f"pr:{number}" for number in _numbers(entries)),
                    found(f"topic:{topic}" for entry in entries for topic in entry.extraction.topics),
                )
                if query is not None
            ),
            path=found(_paths(entries)) or usual.path,
            since=found(f"{word} {_since(newest, today)} sort:new".strip() for word in (first, "")) or usual.since,
            days=_days(newest, today),
            cross=self._cross(entries) or usual.cross,
        )

    def _entries(self, channel: Channel | None, newest: date | None) -> list[Entry]:
        if newest is None:
            return []
        return [hit.entry for hit in self._answers.edition(newest, channel=channel, limit=_LOOKED_AT).hits]

    def _finds(self, query: str, channel: Channel | None, today: date) -> bool:
        answer = self._answers.search(query, channel=channel, today=today, limit=1)
        return bool(answer.hits) and not answer.relaxed and answer.query.hint is None

    def _pairs_of_words(self, entries: Sequence[Entry]) -> Iterator[str]:
        """Two words of one entry in two languages where there are such, else two Latin ones."""
        for entry in entries:
            for latin in _LATIN.findall(entry.title):
                for topic in entry.extraction.topics:
                    for other in self._spellings(topic):
                        if other.casefold() not in latin.casefold() and other in entry.title + entry.body:
                            yield f"{latin} {other}" if " " not in other else f'{latin} "{other}"'
        for entry in entries:
            latin_words = list(dict.fromkeys(_LATIN.findall(entry.title)))
            for one, other in pairwise(latin_words):
                yield f"{one} {other}"

    def _others(self, entries: Sequence[Entry], first: str) -> Iterator[str]:
        for entry in entries:
            if first.casefold() not in entry.title.casefold():
                yield from _LATIN.findall(entry.title)

    def _cross(self, entries: Sequence[Entry]) -> tuple[str, str] | None:
        for entry in entries:
            for topic in entry.extraction.topics:
                chinese, english = (*self._spellings(topic), "", "")[:2]
                if not chinese.isascii() and self._means(chinese, english):
                    return chinese, english
        return None

    def _means(self, one: str, other: str) -> bool:
        asked, found = phrase(one), phrase(other)
        if asked is None or found is None or asked == found:
            return False
        return (found,) in self._glossary.meanings((asked,))


def _phrases(entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        yield from _PAIR.findall(entry.title)
    for entry in entries:
        yield from _PAIR.findall(entry.body)


def _numbers(entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        for written in entry.extraction.pull_requests:
            yield from _DIGITS.findall(written.rpartition("#")[2])


def _paths(entries: Sequence[Entry]) -> Iterator[str]:
    """Folders first: more than one file is in them."""
    split = [path.strip("/").split("/") for entry in entries for path in entry.extraction.paths]
    for *folders, _file in split:
        if folders:
            yield f"path:{folders[-1]}"
    for names in split:
        yield f"path:{names[-1]}"


def _since(newest: date, today: date) -> str:
    days = next((days for days in (7, 30) if newest >= today - timedelta(days=days)), None)
    return f"since:{days}d" if days else f"since:{newest.isoformat()}"


def _days(newest: date, today: date) -> tuple[str, ...]:
    named = {today: "today", today - timedelta(days=1): "yesterday"}
    return tuple(dict.fromkeys((named.get(newest, newest.isoformat()), newest.isoformat())))
