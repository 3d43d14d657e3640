"""What else is written when a message is known to stand, in the same transaction, however it became known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.model import DeliveryKind
from bot.storage import outbox_statements as statements
from bot.storage.rows import new_key

Run = Callable[[str, tuple[Any, ...]], Any]
"""Runs a statement as `Quick.sql` takes it; gives a cursor."""


@dataclass(frozen=True, slots=True)
class SentRow:
    """A delivery that has just become SENT: the columns of `outbox_statements.SENT_COLUMNS`."""

    id: int
    kind: str
    slot_id: int | None
    team_id: str
    channel_id: str
    subject: str
    part: int
    ts: str | None
    parts: int
    told: int | None

    @property
    def message(self) -> tuple[str, str, str]:
        """The entry or root that it belongs to."""
        return self.team_id, self.channel_id, self.subject


def after_sent(run: Run, row: SentRow, at: Any, *, update_revision: int | None, folds: bool, parts: int = 1) -> None:
    """Write what follows. `update_revision`: its slot's; `parts`: how many an UPDATE's new wording has."""
    if row.kind == DeliveryKind.UPDATE:
        if row.told is not None:
            run(statements.TELL_SUBJECT, (row.told, *row.message, row.part, row.told))
        if row.part == 0:
            _change_parts(run, row, at, parts)
    elif row.kind == DeliveryKind.ROOT:
        if row.told:
            run(statements.SHOWN_BY_ROOT, (row.told, row.slot_id, row.told))
        if folds:
            run(statements.FOLD, (row.ts, at, at, row.slot_id))
    elif row.kind == DeliveryKind.ENTRY and row.part == 0:
        if update_revision:
            run(statements.OWE_LINKS, (row.slot_id,))
        _add_parts(run, row.id, at, row.parts)
    elif row.kind == DeliveryKind.ENTRY:
        # Its entry may have changed while nobody knew whether this part stands.
        run(statements.CHANGE_PART, (new_key(), at, at, *row.message, row.part))


def _add_parts(run: Run, head: int, at: Any, parts: int) -> None:
    for part in range(1, parts):
        run(statements.ADD_PART, (new_key(), part, at, at, head))


def _change_parts(run: Run, row: SentRow, at: Any, parts: int) -> None:
    head = run(statements.GROW, (parts, parts, *row.message)).fetchone()
    if head is None:
        return
    _add_parts(run, head[0], at, parts)
    for part in range(1, head[1]):
        run(statements.CHANGE_PART, (new_key(), at, at, *row.message, part))
