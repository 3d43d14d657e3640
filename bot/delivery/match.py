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

    Channels ask about the same entries: which of a document's entries are of some repositories, or speak of a word, is
    worked out once.
    """

    def __init__(self) -> None:
        self._sets: dict[tuple[tuple[str, ...] | str, int], frozenset[int]] = {}
        self._known: dict[int, tuple[Candidate, ...]] = {}
        self._repos: dict[tuple[tuple[str, ...], str], bool] = {}
        self._words: dict[str, dict[int, bool]] = {}
        self._texts: dict[int, str] = {}

    def wants(self, wanted: Wanted, candidate: Candidate) -> bool:
        """Return whether the wishes take in the entry."""
        if wanted == _EVERYTHING:
            return True
        if wanted.repos and not self._in_repos(wanted.repos, candidate.repo):
            return False
        if wanted.not_repos and self._in_repos(wanted.not_repos, candidate.repo):
            return False
        if wanted.topics and not any(self._speaks_of(word, candidate) for word in wanted.topics):
            return False
        return not any(self._speaks_of(word, candidate) for word in wanted.not_topics)

    def chosen(self, wanted: Wanted, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """Return those that are wanted, in their order."""
        if wanted == _EVERYTHING:
            return candidates
        left = (
            {candidate.entry_id for candidate in candidates}
            if not wanted.repos
            else set(self._of_repos(wanted.repos, candidates))
        )
        if wanted.not_repos:
            left -= self._of_repos(wanted.not_repos, candidates)
        if wanted.topics:
            left &= frozenset().union(*(self._of_word(word, candidates) for word in wanted.topics))
        for word in wanted.not_topics:
            left -= self._of_word(word, candidates)
        return tuple(candidate for candidate in candidates if candidate.entry_id in left) if left else ()

    def _of_repos(self, patterns: tuple[str, ...], candidates: tuple[Candidate, ...]) -> frozenset[int]:
        return self._of(patterns, candidates, lambda candidate: self._in_repos(patterns, candidate.repo))

    def _of_word(self, word: str, candidates: tuple[Candidate, ...]) -> frozenset[int]:
        return self._of(word, candidates, lambda candidate: self._speaks_of(word, candidate))

    def _of(
        self,
        question: tuple[str, ...] | str,
        candidates: tuple[Candidate, ...],
        test: Callable[[Candidate], bool],
    ) -> frozenset[int]:
        """Return the entries of a document of which something is true: asked once, for whatever channels ask."""
        key = (question, id(candidates))
        found = self._sets.get(key)
        if found is None:
            self._known[id(candidates)] = candidates  # kept, so that nothing else gets its place in memory
            found = self._sets[key] = frozenset(one.entry_id for one in candidates if test(one))
        return found

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
        if any(topic.casefold() == word for topic in candidate.topics):
            return True
        text = self._texts.get(candidate.entry_id)
        if text is None:
            text = self._texts[candidate.entry_id] = f"{candidate.title}\n{candidate.body}".casefold()
        if word not in text:
            return False
        # `moe` must not be found in `someone`; Chinese has no such edges, so only Latin letters and digits count.
        return re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", text) is not None or not word.isascii()


def _whole(pattern: str) -> str:
    folded = pattern.casefold()
    return folded if "/" in folded else f"*/{folded}"
