"""Looking entries up for a reader: what is found and why, and what to try where nothing is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import date
from typing import Protocol

from bot.model import Answer, AnswerHit, Channel, Entry, EntryQuery, Hit, Order, Reading, Span, Term, WordCount
from bot.readers import query as queries
from bot.readers.near import allowance, anchors, is_chinese_word, nearest, spellings
from bot.readers.snippet import Text, matches, snippet
from bot.readers.widen import literal, widen
from bot.text.glossary import Glossary
from bot.text.normalise import normalise

COUNTED = 10
"""Beyond this many, "10+" is said: counting all matches is the slow part of a search."""
_SUGGESTIONS = 3
_TRIED_WORDS = 6
_READ_FOR_SPELLINGS = 60
"""Entries, the newest first, in which a Chinese word is looked for in other spellings."""
_READ_CHARACTERS = 4_000
_SIGNS = str.maketrans("", "", "_-.")


class SearchStorage(Protocol):
    """What looking up asks of storage. Every method raises StorageUnavailable."""

    def find(self, query: EntryQuery, *, limit: int, offset: int, hidden_repos: Collection[str]) -> list[Hit]:
        """Return the entries that fit `query`, in its order, at most `limit` after the first `offset`.

        Entries of `hidden_repos` (names, owners or `owner/name`, any case) are as if they did not exist.
        """

    def page(
        self, query: EntryQuery, *, limit: int, ahead: int, offset: int, hidden_repos: Collection[str]
    ) -> tuple[list[Hit], int]:
        """Return what `find` does, and how many entries fit after `offset`, counting no further than `ahead`."""

    def count(self, query: EntryQuery, *, most: int, hidden_repos: Collection[str]) -> int:
        """Return how many entries fit `query`, counting no further than `most`."""

    def edition(self, day: date, *, limit: int, offset: int, hidden_repos: Collection[str]) -> list[Entry]:
        """Return the entries of that day's accepted documents, in their order there, each once."""

    def repos(self) -> frozenset[str]:
        """Return the full names of all repositories that have entries."""

    def similar_words(self, word: str, *, limit: int) -> list[str]:
        """Return up to `limit` lower-case Latin words of the entries that begin like `word` and are about as long."""


class Answers:
    """Answers readers. Holds no state of its own; safe to use from several threads."""

    def __init__(
        self,
        storage: SearchStorage,
        glossary: Glossary,
        *,
        confined: Mapping[str, Collection[Channel]] | None = None,
        topics: Mapping[str, str] | None = None,
    ) -> None:
        """Take where entries are, and what their words mean.

        `confined` names for a repository the only channels that may find it; `topics` maps other spellings of topics,
        lower-case, to their ids.
        """
        self._storage = storage
        self._glossary = glossary
        self.confined = confined or {}
        """Replaced as a whole when the configuration is read again."""
        self._topics = topics or {}

    def search(self, text: str, *, channel: Channel | None, today: date, limit: int = 5, offset: int = 0) -> Answer:
        """Answer what a reader typed. `channel` is where; None is somebody who may see everything.

        Raises StorageUnavailable.
        """
        query = self.parse(text, channel=channel, today=today)
        hidden = self._hidden(channel)
        if query.edition is not None:
            return self.edition(query.edition, channel=channel, limit=limit, offset=offset, query=query)
        if not queries.asks(query):
            return Answer(query=query)
        readings: list[Reading] = []
        for attempt, loose in self._attempts(query):
            readings.append(Reading(query=attempt, relaxed=loose))
            hits, total, more = self._page(attempt, hidden, limit=limit, offset=offset)
            if hits or total:
                return Answer(
                    query=query,
                    hits=tuple(_explained(hit, attempt) for hit in hits),
                    more=more,
                    offset=offset,
                    total=min(total, max(COUNTED, offset + len(hits))),
                    total_more=total > COUNTED and more,
                    relaxed=loose,
                    repo=attempt.narrowed.word if attempt.narrowed else None,
                    readings=tuple(readings),
                )
        return Answer(
            query=query, readings=tuple(readings), tried=self._tried(query, hidden), near=self._near(query, hidden)
        )

    def edition(
        self,
        day: date,
        *,
        channel: Channel | None,
        limit: int = 5,
        offset: int = 0,
        query: EntryQuery | None = None,
    ) -> Answer:
        """Answer with a day's edition, in its own order. Raises StorageUnavailable."""
        hidden = self._hidden(channel)
        found = self._storage.edition(day, limit=max(limit, COUNTED) + 1, offset=offset, hidden_repos=hidden)
        return Answer(
            query=query or EntryQuery(text=day.isoformat(), edition=day),
            hits=tuple(AnswerHit(entry=entry, score=0.0) for entry in found[:limit]),
            more=len(found) > limit,
            offset=offset,
            total=offset + min(len(found), max(limit, COUNTED)),
            total_more=len(found) > max(limit, COUNTED),
        )

    def parse(self, text: str, *, channel: Channel | None, today: date) -> EntryQuery:
        """Understand what a reader typed, with the repositories that `channel` may see."""
        hidden = {name.casefold().removesuffix("/*") for name in self._hidden(channel)}
        known = [repo for repo in sorted(self._storage.repos()) if not hidden & _names(repo)]
        return queries.parse(text, known_repos=known, today=today, glossary=self._glossary, topics=self._topics)

    def confining(self, repo: str) -> list[Collection[Channel]]:
        """Return, for each line of the configuration that confines the repository, the channels that may find it."""
        names = _names(repo)
        return [channels for name, channels in self.confined.items() if name.casefold().removesuffix("/*") in names]

    def _attempts(self, query: EntryQuery) -> list[tuple[EntryQuery, bool]]:
        """The readings of a query from the narrowest to the loosest, and whether each is a loose one."""
        attempts = [(query, False)]
        if query.narrowed is not None:
            attempts.append((queries.as_plain(query), False))
        for attempt, _ in attempts[:]:
            loose = queries.relaxed(attempt, self._glossary)
            if loose is not None:
                attempts.append((loose, True))
        return attempts

    def _page(
        self, query: EntryQuery, hidden: Collection[str], *, limit: int, offset: int
    ) -> tuple[list[Hit], int, bool]:
        """A page of hits, how many there are as far as they were fetched, and whether more follow."""
        ahead = max(offset + limit, COUNTED) + 1 - offset
        found, count = self._storage.page(query, limit=limit, ahead=ahead, offset=offset, hidden_repos=hidden)
        if not count and offset:
            # Past the last page. Whether this reading finds anything decides if a looser one is tried.
            return [], self._storage.count(query, most=offset, hidden_repos=hidden), False
        return found, offset + count, count > limit

    def _hidden(self, channel: Channel | None) -> frozenset[str]:
        if channel is None:
            return frozenset()
        return frozenset(repo.removesuffix("/*") for repo, channels in self.confined.items() if channel not in channels)

    def _tried(self, query: EntryQuery, hidden: Collection[str]) -> tuple[WordCount, ...]:
        return tuple(self._word_count(term, hidden) for term in _asked(query)[:_TRIED_WORDS] if len(_asked(query)) > 1)

    def _word_count(self, term: Term, hidden: Collection[str]) -> WordCount:
        alone = EntryQuery(text=term.word, terms=(term,))
        count = self._storage.count(alone, most=COUNTED + 1, hidden_repos=hidden)
        return WordCount(word=term.word, count=min(count, COUNTED), more=count > COUNTED)

    def _near(self, query: EntryQuery, hidden: Collection[str]) -> tuple[str, ...]:
        """The query with a word that finds nothing replaced by one that is spelt alike, where that finds something."""
        terms = _asked(query)
        words = [each.word for each in terms]
        suggestions: list[str] = []
        if len(terms) > 1 and not any(map(_is_fact, terms)):
            # Neighbours that mean something only together: neither may stand in the archive or the glossary alone.
            together = nearest(" ".join(words), self._glossary.words, limit=_SUGGESTIONS)
            suggestions += [each for each in together if self._finds(query, (), each.split(), (), hidden)]
        for index, term in enumerate(terms[:_TRIED_WORDS]):
            if len(suggestions) >= _SUGGESTIONS or _is_fact(term) or self._word_count(term, hidden).count:
                continue
            before, after = terms[:index], terms[index + 1 :]
            for word in self._candidates(term.word, hidden):
                if self._finds(query, before, [word], after, hidden):
                    suggestions.append(" ".join([*words[:index], word, *words[index + 1 :]]))
                if len(suggestions) >= _SUGGESTIONS:
                    break
        return tuple(dict.fromkeys(suggestions))[:_SUGGESTIONS]

    def _finds(
        self,
        query: EntryQuery,
        before: tuple[Term, ...],
        words: list[str],
        after: tuple[Term, ...],
        hidden: Collection[str],
    ) -> bool:
        """Whether the query finds something with `words` between these terms."""
        terms = (*before, *widen(words, self._glossary), *after)
        better = replace(query, terms=terms, narrowed=None, narrowed_word=None)
        return self._storage.count(better, most=1, hidden_repos=hidden) > 0

    def _candidates(self, word: str, hidden: Collection[str]) -> list[str]:
        if is_chinese_word(word):
            known = [each for each in self._glossary.words if len(each) == len(word)]
            heard = spellings(word, (normalise(each) for each in known), limit=_SUGGESTIONS)
            read = spellings(word, self._texts_near(word, hidden), limit=_SUGGESTIONS)
            return list(dict.fromkeys([*heard, *read, *nearest(word, self._glossary.words, limit=_SUGGESTIONS)]))
        if not allowance(word):
            return []
        found: list[str] = []
        # `postprocess_encoder_output` is indexed in one word as well.
        for spelling in dict.fromkeys((word, word.translate(_SIGNS))):
            indexed = self._storage.similar_words(spelling.casefold(), limit=5_000) if spelling else []
            found += nearest(spelling, dict.fromkeys([*self._glossary.words, *indexed]), limit=2 * _SUGGESTIONS)
        return list(dict.fromkeys(found))

    def _texts_near(self, word: str, hidden: Collection[str]) -> list[str]:
        """Texts that hold a part of a Chinese word: in one of them it may stand as it was meant."""
        texts: dict[int, str] = {}
        for parts in anchors(word):
            terms = tuple(term for part in parts if (term := literal(part)) is not None)
            query = EntryQuery(text=word, terms=terms, order=Order.NEW)
            for hit in self._storage.find(query, limit=_READ_FOR_SPELLINGS, offset=0, hidden_repos=hidden):
                texts.setdefault(hit.entry.id, normalise(f"{hit.entry.title}\n{hit.entry.body[:_READ_CHARACTERS]}"))
        return list(texts.values())


def _asked(query: EntryQuery) -> tuple[Term, ...]:
    return (*((query.narrowed_word,) if query.narrowed_word else ()), *query.terms)


def _is_fact(term: Term) -> bool:
    return any(":" in token for token in term.alternatives[0][0].tokens)


def _names(repo: str) -> set[str]:
    folded = repo.casefold()
    return {folded, *folded.split("/")}


def _explained(hit: Hit, query: EntryQuery) -> AnswerHit:
    """The hit with the places that matched: in the title, and in the body for what the title does not say."""
    terms = [term for term in query.terms if not _is_fact(term)]
    title = Text(hit.entry.title)
    in_title = matches(title, terms)
    said = {each.term for each in in_title}
    missing = [term for index, term in enumerate(terms) if index not in said]
    return AnswerHit(
        entry=hit.entry,
        score=hit.score,
        title_matches=tuple(Span(start=each.start, end=each.end) for each in in_title),
        snippet=snippet(Text(hit.entry.body), missing, beside=(title,)) if missing else None,
    )
