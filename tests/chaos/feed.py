"""The digests that chaos delivers: numbered, overlapping, and hostile enough to be worth losing."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

REPO = "vllm-project/vllm"
_BODIES = (
    "值得精读。关注 `free_blocks` 的语义，& <T> 与 *重点*，见 tests/v1/e2e/spec_decode/utils.py。",
    "建议阅读。1) 数据契约；2) 适配风险；3) 决策模式。",
    "该 PR 值得快速阅读，涉及 `isinstance(data, dict)` 与 {{ 7*7 }}。",
)
_LONG = "值得精读。" + "".join(f"第{number}句说明 `free_blocks` 的语义与调度器的变化。" for number in range(200))
"""More than a message holds: it is continued in its thread."""


@dataclass(slots=True)
class Feed:
    """Writes documents into an inbox and remembers what each channel must have in the end, in order."""

    inbox: Path
    random: random.Random
    titles: list[str] = field(default_factory=list)
    documents: int = 0

    @property
    def long(self) -> frozenset[str]:
        """The titles whose texts need more than one message."""
        return frozenset(filter(_is_long, self.titles))

    def write(self) -> None:
        """One more document: the last two entries of the one before, then two to five new ones."""
        self.documents += 1
        number = self.documents
        new = [f"第{number:05d}份 第{position}条 修复调度" for position in range(1, self.random.randint(2, 5) + 1)]
        parts = [REPO]
        for title in [*self.titles[-2:], *new]:
            parts += [title, _LONG if _is_long(title) else _BODIES[sum(map(ord, title)) % len(_BODIES)]]
        self.titles += new
        # A name that sorts by arrival, written aside and renamed: a file is complete when it appears.
        path = self.inbox / f"{number:05d}.txt"
        aside = path.with_name(f".{path.name}")
        aside.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        aside.rename(path)


def _is_long(title: str) -> bool:
    return sum(map(ord, title)) % 11 == 0
