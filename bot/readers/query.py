"""What a reader types after `/digest`, understood. Pure: every text gives an `EntryQuery`, none an error."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from bot.model import EntryQuery, Order, Phrase, QueryHint, Term
from bot.readers import dates, qualifiers
from bot.readers.widen import literal, loosen, split_scripts, widen
from bot.text.glossary import Glossary
from bot.text.normalise import fold, unescape
from bot.text.tokens import metadata, phrase

MAX_CHARACTERS = 2_000
MAX_TERMS = 24
_SHOWN = 300
"""Characters of the text that are worth repeating to the reader."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\s]+")
_NAMES = "|".join(sorted(qualifiers.NAMES, key=len, reverse=True))
_ITEM = re.compile(
    rf"(?P<minus>-(?=[^\s-]))?"
    rf"(?:(?P<name>{_NAMES}):(?:\s+(?!-?(?:{_NAMES}):))?(?!:)|(?P<unknown>[a-z][a-z_]{{1,20}}):(?=[^\s:/]))?"
    r'(?:"(?P<quoted>[^"]*)(?:"|$)|(?P<bare>[^\s"]+))',
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[,;、。!?|…]+(?!\d)")
_PULL_REQUEST = re.compile(r"(?:(?P<repo>[\w.-]{1,100}/[\w.-]{1,100}))?#(?P<number>\d{1,9})", re.ASCII)


@dataclass(slots=True)
class _Reading:
    """What has been understood so far."""

    glossary: Glossary
    today: date
    topics: Mapping[str, str]
    terms: list[Term] = field(default_factory=list)
    excluded: list[Term] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    """Plain words in a row that are not yet terms: neighbours may mean something together."""
    since: date | None = None
    before: date | None = None
    order: Order = Order.BEST
    hint: tuple[QueryHint, str | None] | None = None

    def tell(self, hint: QueryHint, value: str | None) -> None:
        """Keep the first thing worth telling."""
        self.hint = self.hint or (hint, value)

    def close_words(self) -> None:
        """Make terms of the plain words read so far."""
        self.terms.extend(widen(self.words, self.glossary))
        self.words.clear()


def parse(
    text: str,
    *,
    known_repos: Collection[str] = (),
    today: date,
    glossary: Glossary,
    topics: Mapping[str, str] | None = None,
) -> EntryQuery:
    """Understand `text`.

    `known_repos` are full names; `topics` maps other spellings of topics, lower-case, to their ids. Whatever cannot be
    understood is taken as plain words or left out, and the first such thing becomes the query's hint.
    """
    typed = " ".join(_CONTROL.sub(" ", unescape(text[: MAX_CHARACTERS * 4])).split())
    clean = " ".join(fold(typed).split())
    edition = dates.day(clean.casefold(), today)
    if edition is not None:
        return EntryQuery(text=typed, edition=edition)
    reading = _Reading(glossary=glossary, today=today, topics=topics or {})
    if len(clean) > MAX_CHARACTERS:
        clean = clean[:MAX_CHARACTERS]
        reading.tell(QueryHint.TOO_LONG, None)
    repo, rest = _leading_repo(clean, known_repos)
    for found in _ITEM.finditer(rest):
        if len(reading.terms) + len(reading.excluded) + len(reading.words) >= MAX_TERMS:
            reading.tell(QueryHint.TOO_LONG, None)
            break
        _read(found, reading)
    reading.close_words()
    narrowed, narrowed_word = _narrowing(repo, glossary)
    query = EntryQuery(
        text=typed[:_SHOWN],
        terms=tuple(reading.terms[:MAX_TERMS]),
        excluded=tuple(reading.excluded),
        narrowed=narrowed,
        narrowed_word=narrowed_word,
        since=reading.since,
        before=reading.before,
        order=reading.order,
    )
    if not asks(query):
        reading.tell(QueryHint.EMPTY, None)
    hint, value = reading.hint or (None, None)
    return replace(query, hint=hint, hint_value=value)


def asks(query: EntryQuery) -> bool:
    """Whether there is anything to search for."""
    return bool(query.terms or query.excluded or query.narrowed or query.since or query.before)


def as_plain(query: EntryQuery) -> EntryQuery:
    """The same with the first word as a plain word, where it had named a repository."""
    if query.narrowed_word is None:
        return query
    return replace(query, terms=(query.narrowed_word, *query.terms), narrowed=None, narrowed_word=None)


def relaxed(query: EntryQuery, glossary: Glossary) -> EntryQuery | None:
    """The same with long words taken apart; None if there is none."""
    loose = [(term, loosen(term, glossary) if _plain(term) else None) for term in query.terms]
    if all(parts is None for _, parts in loose):
        return None
    terms = [part for term, parts in loose for part in (parts or [term])]
    return replace(query, terms=tuple(dict.fromkeys(terms))[:MAX_TERMS])


def _plain(term: Term) -> bool:
    return not term.word.startswith('"') and not any(":" in token for token in term.alternatives[0][0].tokens)


def _leading_repo(clean: str, known_repos: Collection[str]) -> tuple[str | None, str]:
    first, _, rest = clean.partition(" ")
    wanted = first.casefold()
    for repo in known_repos:
        name = repo.casefold()
        if wanted in (name, name.rpartition("/")[2]):
            return first, rest
    return None, clean


def _narrowing(repo: str | None, glossary: Glossary) -> tuple[Term | None, Term | None]:
    token = metadata("repo", repo) if repo else None
    if repo is None or token is None:
        return None, None
    words = widen([repo], glossary)
    return Term(word=repo, alternatives=((Phrase(tokens=(token,)),),)), words[0] if words else None


def _read(found: re.Match[str], reading: _Reading) -> None:
    """Take one item of the query into `reading`."""
    quoted, bare, minus = found["quoted"], found["bare"], bool(found["minus"])
    if found["name"]:
        reading.close_words()
        _qualifier(found["name"].casefold(), quoted if quoted is not None else bare, reading, minus=minus)
        return
    if found["unknown"]:
        reading.tell(QueryHint.UNKNOWN_QUALIFIER, found["unknown"])
    if quoted is not None:
        reading.close_words()
        exact = phrase(quoted)
        if exact is not None:
            term = Term(word=f'"{quoted.strip()}"', alternatives=((exact,),))
            (reading.excluded if minus else reading.terms).append(term)
        return
    whole = f"{found['unknown']}:{bare}" if found["unknown"] else bare
    if minus and not _lacks_value(whole):
        term_or_none = _pull_request(whole) or literal(whole)
        reading.excluded.extend([term_or_none] if term_or_none else [])
        return
    for word in _SEPARATORS.split(whole):
        _word(word, reading)


def _word(word: str, reading: _Reading) -> None:
    if _lacks_value(word):
        reading.tell(QueryHint.NO_VALUE, word)
        return
    pull_request = _pull_request(word)
    if pull_request is not None:
        reading.close_words()
        reading.terms.append(pull_request)
        return
    reading.words.extend(part for part in split_scripts(word) if phrase(part) is not None)


def _lacks_value(word: str) -> bool:
    return word.endswith(":") and word.removesuffix(":").casefold() in qualifiers.NAMES


def _pull_request(word: str) -> Term | None:
    found = _PULL_REQUEST.fullmatch(word)
    return qualifiers.pull_request(word) if found else None


def _qualifier(name: str, value: str, reading: _Reading, *, minus: bool) -> None:
    written = f"{name}:{value}"
    kind = qualifiers.NAMES[name]
    if not value.strip():
        reading.tell(QueryHint.NO_VALUE, f"{name}:")
        return
    if kind in ("since", "before"):
        moment = dates.moment(value.casefold(), reading.today)
        if moment is None:
            reading.tell(QueryHint.UNKNOWN_VALUE, written)
        elif (kind == "since") != minus:
            reading.since = moment
        else:
            reading.before = moment
        return
    if kind == "sort":
        order = qualifiers.ORDERS.get(value.casefold())
        reading.order = order or reading.order
        if order is None:
            reading.tell(QueryHint.UNKNOWN_VALUE, written)
        return
    term = qualifiers.term(kind, value, glossary=reading.glossary, topics=reading.topics)
    if term is None:
        reading.tell(QueryHint.UNKNOWN_VALUE, written)
        return
    (reading.excluded if minus else reading.terms).append(term)
