"""An `EntryQuery` in the language of each database. Only tokens get in, never what a reader typed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from bot.model import EntryQuery, Phrase, Term
from bot.text.indexed import EVERY
from bot.text.tokens import is_chinese, metadata

_ALONE = "^"
"""Before a character that stands for every token it begins. No token has it."""


def confinement(
    query: EntryQuery, *, allowed_repos: Collection[str] | None, hidden_repos: Collection[str]
) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """All terms that an entry must fit, and all that it must not, with what the channel may see among them."""
    required = (*query.terms, *((query.narrowed,) if query.narrowed else ()))
    excluded = query.excluded
    if allowed_repos is not None:
        # No repository has a name without letters, so the empty list finds nothing.
        required = (*required, _repos(allowed_repos) or Term(word="", alternatives=((Phrase(tokens=("repo:",)),),)))
    hidden = _repos(hidden_repos)
    return required, excluded if hidden is None else (*excluded, hidden)


def fts5(required: Collection[Term], excluded: Collection[Term]) -> str:
    """An expression for SQLite's MATCH."""
    terms = [_fts5_term(term) for term in required] or [f'"{EVERY}"']
    wanted = " AND ".join(terms)
    unwanted = " OR ".join(_fts5_term(term) for term in excluded)
    return f"({wanted}) NOT ({unwanted})" if unwanted else wanted


def tsquery(required: Collection[Term], excluded: Collection[Term]) -> str:
    """The same for PostgreSQL's tsquery."""
    terms = [_tsquery_term(term) for term in required] or [f"'{EVERY}'"]
    return " & ".join([*terms, *(f"!{_tsquery_term(term)}" for term in excluded)])


def title_score(title: str, terms: Collection[Term]) -> float:
    """How well a title explains a hit: 1 for each term as typed, less for one that means the same.

    `title` is its tokens between spaces, with a space at both ends.
    """
    score = 0.0
    for term in terms:
        for index, alternative in enumerate(term.alternatives):
            if all(stands_in(title, phrase) for phrase in alternative):
                score += 1.0 if index == 0 else 0.75
                break
    return score


def stands_in(tokens: str, phrase: Phrase) -> bool:
    """Whether a phrase stands in tokens between spaces."""
    return f" {' '.join(phrase.tokens)}{'' if phrase.prefix else ' '}" in tokens


def vector(tokens: Collection[str], gap: str) -> str:
    """The literal of a tsvector with the tokens at their positions.

    Every Chinese character is in it once more, alone and under a sign: its prefix would be thousands of tokens, all of
    which PostgreSQL's index would read through.
    """
    positions: dict[str, list[str]] = {}
    for position, token in enumerate(tokens, start=1):
        if token != gap:
            positions.setdefault(token, []).append(str(position))
    characters = sorted({token[0] for token in positions if is_chinese(token[0])})
    return " ".join(
        [
            *(f"'{token}':{','.join(places)}" for token, places in positions.items()),
            *(f"'{_ALONE}{character}'" for character in characters),
        ]
    )


def _repos(repos: Collection[str]) -> Term | None:
    tokens = [token for repo in sorted(repos) if (token := metadata("repo", repo))]
    return Term(word="", alternatives=tuple((Phrase(tokens=(token,)),) for token in tokens)) if tokens else None


def _fts5_term(term: Term) -> str:
    alternatives = list(_joined(term, " AND ", _fts5_phrase))
    return f"({' OR '.join(alternatives)})" if len(alternatives) > 1 else alternatives[0]


def _fts5_phrase(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.tokens)}"{" *" if phrase.prefix else ""}'


def _tsquery_term(term: Term) -> str:
    return f"({' | '.join(_joined(term, ' & ', _tsquery_phrase))})"


def _tsquery_phrase(phrase: Phrase) -> str:
    if phrase.prefix and len(phrase.tokens) == 1 and is_chinese(phrase.tokens[0]):
        return f"'{_ALONE}{phrase.tokens[0]}'"
    tokens = [f"'{token}'" for token in phrase.tokens]
    if phrase.prefix:
        tokens[-1] += ":*"
    return f"({' <-> '.join(tokens)})" if len(tokens) > 1 else tokens[0]


def _joined(term: Term, sign: str, write: Callable[[Phrase], str]) -> Iterator[str]:
    for alternative in term.alternatives:
        phrases = [write(phrase) for phrase in alternative]
        yield f"({sign.join(phrases)})" if len(phrases) > 1 else phrases[0]
