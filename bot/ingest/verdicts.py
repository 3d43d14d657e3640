"""Find what the author advises, and where it stands in the body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from bot.model import Span, Verdict
from bot.text.vocabulary import Vocabulary

_SENTENCE = re.compile(r"(?:[^。！？!?\n.]|\.(?!\s|$))+")
_CLAUSE_SIGNS = "，,：:；;—（(、。！？!?\n"
_DECORATION = " \t\u3000*_「『“\"'【[（(>"
_FOLLOWER_ZH = re.compile(r"\s*(?:$|[，,。．.；;：:！!？?、）)】」”\"*\n—-]|以|，|尤其|特别|但|且|其中|因为|即可|。)")
_FOLLOWER_EN = re.compile(
    r"\s*(?:$|[.,;:!?()*\n—-]|(?:for|if|unless|to|by|when|in|especially|only|once|because|as|and|but|before|over|"
    r"this|it|rather|mainly|mostly|particularly)\b)",
    re.IGNORECASE,
)
_PART_ONLY = re.compile(r"的(?:是|部分|地方|文件|代码|函数|段落|内容|一处|几处|细节|点|还有)")
_NEGATED = re.compile(r"(?:不太|未必|谈不上|算不上|不一定|并非|不|n't |\bnot |\bhardly |\bnever )$", re.IGNORECASE)
_LONGEST_LEAD = 40
_LONGEST_MIDDLE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundVerdict:
    """A verdict, its place, and the audience that stands inside the phrase (empty where none does)."""

    verdict: Verdict
    span: Span
    middle: Span | None = None


@dataclass(frozen=True, slots=True)
class _Match:
    start: int
    end: int
    verdict: Verdict
    english: bool
    softened: bool = False
    middle: Span | None = None


@dataclass(frozen=True, slots=True)
class _Patterns:
    phrases: re.Pattern[str]
    splits: re.Pattern[str]
    verdicts: dict[str, Verdict]
    split_verdicts: dict[tuple[str, str], Verdict]
    softened: frozenset[str]
    lead: re.Pattern[str]
    nouns: tuple[str, ...]


def find_verdict(body: str, vocabulary: Vocabulary) -> FoundVerdict | None:
    """Give the entry's verdict: the first sentence's if it has one, else the first sentence that is a verdict itself.

    A phrase inside the argument (建议阅读 `free_blocks` 的完整上下文; users may skip it) is not the verdict.
    """
    patterns = _patterns(vocabulary)
    loose: _Match | None = None
    for number, sentence in enumerate(_SENTENCE.finditer(body)):
        matches = sorted(
            _matches(body, sentence.start(), sentence.end(), patterns), key=lambda match: (match.start, -match.end)
        )
        for match in matches:
            if _stands(body, sentence.start(), match, patterns, first=number == 0):
                return _found(body, match, matches)
            if number == 0 and loose is None and not match.english and _opens(body, match, patterns):
                loose = match
    return None if loose is None else _found(body, loose, [])


def _matches(body: str, start: int, end: int, patterns: _Patterns) -> Iterator[_Match]:
    for found in patterns.phrases.finditer(body, start, end):
        phrase = found[0].lower()
        yield _Match(
            found.start(), found.end(), patterns.verdicts[phrase], phrase.isascii(), phrase in patterns.softened
        )
    for found in patterns.splits.finditer(body, start, end):
        begin, middle, finish = found.group("begin", "middle", "finish")
        to_people = middle.strip().endswith(patterns.nouns)
        if begin != "值得" and not to_people:
            continue
        span = Span(start=found.start("middle"), end=found.end("middle")) if to_people else None
        verdict = patterns.split_verdicts.get((begin, finish))
        if verdict is not None:
            yield _Match(found.start(), found.end(), verdict, english=False, middle=span)


def _stands(body: str, sentence_start: int, match: _Match, patterns: _Patterns, *, first: bool) -> bool:
    if _PART_ONLY.match(body, match.end):
        return False
    if first and not match.english and match.verdict is Verdict.MUST_READ:
        return True
    follower = _FOLLOWER_EN if match.english else _FOLLOWER_ZH
    if follower.match(body, match.end) is None:
        return False
    return _led(body, sentence_start, match, patterns)


def _led(body: str, sentence_start: int, match: _Match, patterns: _Patterns) -> bool:
    """Whether nothing but words such as 该 PR stands between the beginning of the clause and the phrase."""
    lower = max(sentence_start, match.start - _LONGEST_LEAD)
    lead = body[lower : match.start]
    cut = max(lead.rfind(sign) for sign in _CLAUSE_SIGNS)
    lead = lead[cut + 1 :].strip(_DECORATION)
    if lower > sentence_start and cut < 0:
        return False
    return patterns.lead.fullmatch(lead) is not None


def _opens(body: str, match: _Match, patterns: _Patterns) -> bool:
    return match.verdict is not Verdict.SKIP and _led(body, 0, match, patterns)


def _found(body: str, match: _Match, others: list[_Match]) -> FoundVerdict:
    verdict, end = match.verdict, match.end
    if match.softened:
        lighter = next((other for other in others if other.start >= match.end and other.verdict is Verdict.SKIM), None)
        if lighter is not None:
            verdict, end = Verdict.SKIM, lighter.end
    elif verdict is not Verdict.SKIP and _NEGATED.search(body[max(0, match.start - 8) : match.start]):
        verdict = Verdict.SKIP
    return FoundVerdict(verdict=verdict, span=Span(start=match.start, end=end), middle=match.middle)


@lru_cache(maxsize=8)
def _patterns(vocabulary: Vocabulary) -> _Patterns:
    verdicts = {phrase.lower(): words.verdict for words in vocabulary.verdicts for phrase in (*words.zh, *words.en)}
    split = {pair: words.verdict for words in vocabulary.verdicts for pair in words.split}
    longest_first = sorted(verdicts, key=len, reverse=True)
    chinese = "|".join(re.escape(phrase) for phrase in longest_first if not phrase.isascii())
    english = "|".join(re.escape(phrase) for phrase in longest_first if phrase.isascii())
    begins = "|".join(sorted({begin for begin, _ in split}, key=len, reverse=True))
    finishes = "|".join(sorted({finish for _, finish in split}, key=len, reverse=True))
    leads = "|".join(map(re.escape, sorted((*vocabulary.leads_zh, *vocabulary.leads_en), key=len, reverse=True)))
    return _Patterns(
        phrases=re.compile(rf"{chinese}|(?<![A-Za-z-])(?:{english})(?![A-Za-z-])", re.IGNORECASE),
        splits=re.compile(
            rf"(?P<begin>{begins})(?P<middle>[^，,。；;：:！？!?\n]{{1,{_LONGEST_MIDDLE}}}?)(?P<finish>{finishes})"
        ),
        verdicts=verdicts,
        split_verdicts=split,
        softened=frozenset(phrase.lower() for phrase in vocabulary.softened),
        lead=re.compile(rf"(?:(?:{leads})\s*)*", re.IGNORECASE),
        nouns=vocabulary.audience_zh["nouns"],
    )
