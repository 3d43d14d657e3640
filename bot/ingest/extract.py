"""What an entry's own words say about it. Pure: a title, a body and a vocabulary in, an `Extraction` out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.ingest.audiences import find_audiences
from bot.ingest.people import find_people
from bot.ingest.verdicts import find_verdict
from bot.model import Extraction
from bot.text.pulls import linked_pulls
from bot.text.scan import Kind, Piece, scan
from bot.text.vocabulary import TopicTree, Vocabulary, words

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_UNIT = (
    r"(?:%|％|‰|(?:[×xX倍](?![A-Za-z0-9]))|(?:ms|us|μs|µs|ns|s|min|h|GB|MB|KB|TB|GiB|MiB|KiB|TiB|Gbps|Mbps|kB|QPS|RPS|TPS|FPS|"
    r"tok/s|tokens/s|token/s|req/s|it/s|TFLOPS|GB/s|MB/s|pp)(?![A-Za-z0-9])|毫秒|微秒|秒|分钟|小时|倍|个百分点|万次|百分点)"
)
_FIGURE = re.compile(
    r"(?=[+\-−~≈<>≤≥±\d])(?<![A-Za-z0-9_.#/])(?<!\d,)(?:"
    r"\+\d+\s?/\s?[-−–]\d+"
    rf"|[+\-−~≈<>≤≥±]?(?:{_NUMBER})\s?(?:{_UNIT})?(?:\s?[~～–—-]\s?|\s?(?:到|至|→|->)\s?)[+\-−]?(?:{_NUMBER})\s?{_UNIT}"
    rf"|[+\-−±]?(?:{_NUMBER})\s?{_UNIT}"
    r")(?![A-Za-z0-9_])"
)


def extract(title: str, body: str, *, vocabulary: Vocabulary, repo: str = "") -> Extraction:
    """Read title and body together; `verdict_span` is in the body. Linear in the text, never raises.

    `repo` is the entry's own repository: a link to a pull request there is the same mention as `#48017`.
    """
    verdict = find_verdict(body, vocabulary)
    audience, audience_negative = find_audiences(body, verdict.middle if verdict else None, vocabulary)
    text = f"{title}\n{body}"
    pieces = scan(text, vocabulary)
    people = find_people(text, pieces, vocabulary)
    return Extraction(
        verdict=verdict.verdict if verdict else None,
        verdict_span=verdict.span if verdict else None,
        audience=audience,
        audience_negative=audience_negative,
        pull_requests=_pull_requests(text, pieces, repo),
        paths=_names(pieces, (Kind.PATH,)),
        identifiers=tuple(n for n in _names(pieces, (Kind.CODE, Kind.WORD)) if n not in people),
        people=people,
        figures=tuple(dict.fromkeys(_figures(text, pieces))),
        topics=topics_of(text, vocabulary),
    )


def topics_of(text: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Give the ids of the topics whose words stand in the text, in order of appearance."""
    found: dict[str, None] = {}
    units = words(text)
    tree = vocabulary.topic_tree
    for place, unit in enumerate(units, start=1):
        node = tree.get(unit)
        if node is not None:
            _terms(units, place, node, found)
    return tuple(found)


def _terms(units: list[str], place: int, node: TopicTree, found: dict[str, None]) -> None:
    """Note the topics of the terms that begin before `place`, whose first unit led to `node`."""
    following: TopicTree | None = node
    while following is not None:
        for topic in following.get("", ()):
            found[topic] = None
        following = following.get(units[place]) if place < len(units) else None
        place += 1


def _names(pieces: list[Piece], kinds: tuple[Kind, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(piece.name for piece in pieces if piece.kind in kinds and piece.name))


def _pull_requests(text: str, pieces: list[Piece], repo: str) -> tuple[str, ...]:
    found = [(piece.start, piece.name) for piece in pieces if piece.kind is Kind.PULL]
    for link in linked_pulls(text):
        own = link.repo.casefold() == repo.casefold()
        found.append((link.start, f"#{link.number}" if own else f"{link.repo}#{link.number}"))
    return tuple(dict.fromkeys(name for _, name in sorted(found)))


def _figures(text: str, pieces: list[Piece]) -> Iterator[str]:
    index = 0
    for match in _FIGURE.finditer(text):
        while index < len(pieces) and pieces[index].end <= match.start():
            index += 1
        if index == len(pieces) or pieces[index].start >= match.end():
            yield match[0].strip()
