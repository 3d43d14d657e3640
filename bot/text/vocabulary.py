"""The words that give a digest its meaning, read from data files: verdicts, audiences, topics, products, file endings.

Nothing is read at import: `load()` reads `data/*.yaml` once and keeps the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import yaml

from bot.model import Verdict

TopicTree = Mapping[str, Any]
"""Words of a term lead to the next word's tree; the key "" holds the ids of the topics whose term ends here."""

_TOKEN = re.compile(r"[a-z0-9]+|[^\W\d_a-z]|[^\s\w-]|[^\x00-\x7f]")
_PLURAL = re.compile(r"s(?<=[a-z0-9]{2}[a-hj-rtv-z0-9]s)(?![a-z0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A subject that entries are about. `id` is what `topic:<id>` searches; names and terms show it in a text."""

    id: str
    zh: str
    en: str
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictWords:
    """How authors give one verdict: whole phrases, and beginnings and endings around an audience."""

    verdict: Verdict
    zh: tuple[str, ...]
    en: tuple[str, ...]
    split: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Vocabulary:
    """Everything the parser of spans and the extractor know about words. Immutable, so one serves all threads.

    Compared and hashed by identity: what is compiled from one is kept beside it.
    """

    verdicts: tuple[VerdictWords, ...]
    softened: tuple[str, ...]
    leads_zh: tuple[str, ...]
    leads_en: tuple[str, ...]
    audience_zh: Mapping[str, tuple[str, ...]]
    audience_en: Mapping[str, tuple[str, ...]]
    people_zh: Mapping[str, tuple[str, ...]]
    people_en: Mapping[str, tuple[str, ...]]
    not_people: frozenset[str]
    not_handles: frozenset[str]
    topics: tuple[Topic, ...]
    topic_tree: TopicTree
    products: frozenset[str]
    """Lower case: names such as `pytorch` or `node.js` that are read as words."""
    extensions: frozenset[str]
    file_names: frozenset[str]
    hosts: frozenset[str]
    roots: frozenset[str]
    literals: frozenset[str]


def load(*, extra_topics: Iterable[Topic] = (), extra_products: Iterable[str] = ()) -> Vocabulary:
    """Give the vocabulary, with a team's own topics and product names added to the built-in ones.

    A topic with a built-in id adds its terms to that topic and replaces its two names.
    """
    return _load(tuple(extra_topics), tuple(extra_products))


def words(text: str) -> list[str]:
    """Cut text into the units in which topic terms are compared: Latin words, single other letters, punctuation.

    A plural -s is folded, `-`, `_` and spaces disappear, so `Spec-Decode`, `spec_decode` and `spec decodes` agree.
    """
    return _TOKEN.findall(_PLURAL.sub("", text.lower()))


@lru_cache(maxsize=16)
def _load(extra_topics: tuple[Topic, ...], extra_products: tuple[str, ...]) -> Vocabulary:
    code, verdicts, audience, people = (_read(n) for n in ("code", "verdicts", "audience", "people"))
    topics = _merged((*_built_in_topics(), *extra_topics))
    return Vocabulary(
        verdicts=tuple(_verdict_words(Verdict(name), verdicts[name]) for name in Verdict),
        softened=tuple(verdicts["softened"]),
        leads_zh=tuple(verdicts["leads"]["zh"]),
        leads_en=tuple(verdicts["leads"]["en"]),
        audience_zh=_tuples(audience["zh"]),
        audience_en=_tuples(audience["en"]),
        people_zh=_tuples(people["zh"]),
        people_en=_tuples(people["en"]),
        not_people=frozenset(people["not_people"]),
        not_handles=frozenset(people["not_handles"]),
        topics=topics,
        topic_tree=_tree(topics),
        products=frozenset(name.lower() for name in (*_flat(code["products"]), *extra_products)),
        extensions=frozenset(_flat(code["extensions"])),
        file_names=frozenset(code["files"]),
        hosts=frozenset(code["hosts"]),
        roots=frozenset(code["roots"]),
        literals=frozenset(code["literals"]),
    )


def _read(name: str) -> Any:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    # Both loaders are the safe ones; the C one reads the topics ten times faster.
    text = resources.files("bot.text").joinpath(f"data/{name}.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader=loader)  # noqa: S506


def _built_in_topics() -> Iterator[Topic]:
    for row in _read("topics"):
        yield Topic(id=row["id"], zh=row["zh"], en=row["en"], terms=tuple(map(str, row["terms"])))


def _merged(topics: Iterable[Topic]) -> tuple[Topic, ...]:
    by_id: dict[str, Topic] = {}
    for topic in topics:
        known = by_id.get(topic.id)
        terms = topic.terms if known is None else (known.zh, known.en, *known.terms, *topic.terms)
        by_id[topic.id] = Topic(id=topic.id, zh=topic.zh, en=topic.en, terms=tuple(dict.fromkeys(terms)))
    return tuple(by_id.values())


def _tree(topics: tuple[Topic, ...]) -> TopicTree:
    root: dict[str, Any] = {}
    for topic in topics:
        for term in (topic.zh, topic.en, *topic.terms):
            node = root
            for word in words(term):
                node = node.setdefault(word, {})
            if node is not root:
                node[""] = (*node.get("", ()), topic.id)
    return root


def _verdict_words(verdict: Verdict, row: Mapping[str, Any]) -> VerdictWords:
    split = tuple((begin, end) for begin, end in row.get("split", ()))
    return VerdictWords(verdict=verdict, zh=tuple(row["zh"]), en=tuple(row["en"]), split=split)


def _tuples(groups: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(group) for name, group in groups.items()}


def _flat(rows: Iterable[Iterable[str]]) -> Iterator[str]:
    for row in rows:
        yield from row
