"""Whether a channel wants an entry. Pure; made for many channels over the same entries."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from bot.delivery.policy import Wanted
from bot.delivery.values import Candidate

_EVERYTHING = Wanted()


class Matcher:
    """Answers for one planning run, during which an entry's wording does not change.

    Channels ask about the same entries: each question about a repository, about a word in an entry, and each whole
    answer for equal wishes is worked out once.
    """

    def __init__(self) -> None:
        self._tests: dict[Wanted, Callable[[Candidate], bool]] = {}
        self._answers: dict[Wanted, dict[int, bool]] = {}
        self._repos: dict[tuple[tuple[str, ...], str], bool] = {}
        self._words: dict[str, dict[int, bool]] = {}
        self._texts: dict[int, str] = {}

    def wants(self, wanted: Wanted, candidate: Candidate) -> bool:
        """Return whether the wishes take in the entry."""
        if wanted == _EVERYTHING:
            return True
        answers = self._answers.setdefault(wanted, {})
        answer = answers.get(candidate.entry_id)
        if answer is None:
            answer = answers[candidate.entry_id] = self._decide(wanted, candidate)
        return answer

    def chosen(self, wanted: Wanted, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """Return those that are wanted, in their order."""
        if wanted == _EVERYTHING:
            return candidates
        answers = self._answers.setdefault(wanted, {})
        for candidate in candidates:
            if candidate.entry_id not in answers:
                answers[candidate.entry_id] = self._decide(wanted, candidate)
        return tuple(candidate for candidate in candidates if answers[candidate.entry_id])

    def _decide(self, wanted: Wanted, candidate: Candidate) -> bool:
        if wanted.repos and not self._in_repos(wanted.repos, candidate.repo):
            return False
        if wanted.not_repos and self._in_repos(wanted.not_repos, candidate.repo):
            return False
        if wanted.topics and not any(self._speaks_of(word, candidate) for word in wanted.topics):
            return False
        return not any(self._speaks_of(word, candidate) for word in wanted.not_topics)

    def _in_repos(self, patterns: tuple[str, ...], repo: str) -> bool:
        answer = self._repos.get((patterns, repo))
        if answer is None:
            folded = repo.casefold()
            answer = any(fnmatchcase(folded, _whole(pattern)) for pattern in patterns)
            self._repos[patterns, repo] = answer
        return answer

    def _speaks_of(self, word: str, candidate: Candidate) -> bool:
        answers = self._words.setdefault(word, {})
        answer = answers.get(candidate.entry_id)
        if answer is None:
            answer = answers[candidate.entry_id] = self._stands_in(word.casefold(), candidate)
        return answer

    def _stands_in(self, word: str, candidate: Candidate) -> bool:
        if word in candidate.topics:
            return True
        text = self._texts.get(candidate.entry_id)
        if text is None:
            text = self._texts[candidate.entry_id] = f"{candidate.title}\n{candidate.body}".casefold()
        if word not in text:
            return False
        # `moe` must not be found in `someone`; Chinese has no such edges, so only Latin letters and digits count.
        return (
            re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", text) is not None or not word.isascii()
        )


def _whole(pattern: str) -> str:
    folded = pattern.casefold()
    return folded if "/" in folded else f"*/{folded}"
