"""What `IngestStorage` promises, on both databases."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from sqlalchemy import func, select

from bot.model import DocumentState, Extraction, Problem, Span, Verdict
from bot.storage.entry_rows import extraction_json, extraction_of, read_entries
from bot.storage.ingest_store import IngestStore
from bot.storage.schema import appearances, documents, entries, identities
from tests.contract.conftest import DAY, NOW, at_once, document, new, revised, same

LATER = NOW + timedelta(hours=1)


def count(database, table):
    with database.reading() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar()


def read(database, *ids):
    with database.reading() as connection:
        return read_entries(connection, ids)


def test_a_document_is_known_by_its_bytes_whatever_its_name(ingest):
    assert ingest.known_document("seeds", "sha of a.md") is None
    recorded = ingest.record(document("a.md"), [new("one"), new("two", 2)], NOW)
    assert recorded.entry_count == 2
    assert ingest.known_document("seeds", "sha of a.md") == recorded
    assert ingest.known_document("other", "sha of a.md") is None
    assert ingest.record(document("renamed.md", "sha of a.md"), [new("three")], NOW) is None
    assert ingest.known_entries(["three"]) == {}


def test_the_same_bytes_from_another_source_are_another_document(ingest):
    assert ingest.record(document(), [new("one")], NOW)
    assert ingest.record(document(source="other"), [], NOW)


def test_a_quarantined_document_keeps_its_problems(ingest):
    problems = (Problem(line=3, reason="没有段落"), Problem(line=9, reason="no title"))
    recorded = ingest.record(document(state=DocumentState.QUARANTINED, problems=problems), [], NOW)
    assert recorded.problems == problems
    assert recorded.arrived_at == NOW
    assert ingest.known_document("seeds", recorded.sha256) == recorded


def test_new_entries_get_ids_in_file_order(ingest, entry_ids):
    first, second = entry_ids(4), entry_ids(4)
    assert first + second == sorted(first + second)


def test_an_overlapping_document_adds_appearances_and_no_entries(database, ingest):
    ingest.record(document("a.md"), [new("one"), new("two", 2)], NOW)
    known = ingest.known_entries(["one", "two", "three"])
    tomorrow = DAY + timedelta(days=1)
    intents = [same("two", known["two"].id), new("three", 2), same("three", None, 3)]
    ingest.record(document("b.md", edition=tomorrow), intents, LATER)
    assert (count(database, entries), count(database, appearances)) == (3, 5)
    found = read(database, known["two"].id)[known["two"].id]
    assert (found.edition, found.editions) == (DAY, (DAY, tomorrow))
    assert ingest.known_entries(["two"])["two"].current_edition == tomorrow


def test_an_older_edition_that_arrives_late_widens_the_entry_to_both_sides(database, ingest):
    ingest.record(document("b.md"), [new("one")], NOW)
    entry_id = ingest.known_entries(["one"])["one"].id
    yesterday = DAY - timedelta(days=1)
    ingest.record(document("a.md", edition=yesterday), [same("one", entry_id)], LATER)
    found = read(database, entry_id)[entry_id]
    assert (found.edition, found.editions) == (yesterday, (yesterday, DAY))
    assert ingest.known_entries(["one"])["one"].current_edition == DAY


def test_a_reworded_entry_keeps_all_its_names(ingest):
    ingest.record(document("a.md"), [new("old title")], NOW)
    entry_id = ingest.known_entries(["old title"])["old title"].id
    ingest.record(document("b.md"), [revised("new title", entry_id, body="新的正文")], LATER)
    known = ingest.known_entries(["old title", "new title"])
    assert known["old title"] == known["new title"]
    assert (known["new title"].title, known["new title"].body, known["new title"].revision) == (
        "new title",
        "新的正文",
        2,
    )


def test_a_revision_that_rests_on_an_overtaken_one_changes_nothing(database, ingest):
    ingest.record(document("a.md"), [new("one")], NOW)
    entry_id = ingest.known_entries(["one"])["one"].id
    assert ingest.record(document("b.md"), [revised("one", entry_id)], LATER)
    assert ingest.record(document("c.md"), [new("two"), revised("one", entry_id, position=2)], LATER) is None
    assert ingest.known_document("seeds", "sha of c.md") is None
    assert ingest.known_entries(["two"]) == {}
    assert count(database, entries) == 1


def test_a_taken_name_changes_nothing(database, ingest):
    ingest.record(document("a.md"), [new("one"), new("two", 2)], NOW)
    known = ingest.known_entries(["one", "two"])
    assert ingest.record(document("b.md"), [new("one")], LATER) is None
    assert ingest.record(document("c.md"), [same("two", known["one"].id)], LATER) is None
    assert (count(database, documents), count(database, entries), count(database, identities)) == (1, 2, 2)


def test_recent_entries_are_those_of_the_repository_in_any_case_within_the_days(ingest):
    ingest.record(document("a.md"), [new("one"), new("two", 2, repo="other/repo")], NOW)
    day = timedelta(days=1)
    find = ingest.recent_entries
    assert [one.title for one in find({"VLLM-Project/vLLM"}, DAY, DAY)] == ["one"]
    assert [one.title for one in find({"vllm-project/vllm", "other/repo"}, DAY - day, DAY + day)] == ["one", "two"]
    assert find({"vllm-project/vllm"}, DAY + day, date.max) == ()
    assert find({"vllm-project/vllm"}, date.min, DAY - day) == ()
    assert find(set(), date.min, date.max) == ()


def superseded(database):
    with database.reading() as connection:
        statement = select(documents.c.sha256).where(documents.c.superseded).order_by(documents.c.sha256)
        return connection.execute(statement).scalars().all()


def test_another_version_of_a_file_takes_the_place_of_the_one_of_the_same_edition(database, ingest):
    ingest.record(document("a.md", "1"), [new("one")], NOW)
    ingest.record(document("a.md", "2", DAY + timedelta(days=1)), [new("two")], NOW)
    ingest.record(document("b.md", "3"), [new("three")], NOW)
    assert superseded(database) == []
    entry_id = ingest.known_entries(["one"])["one"].id
    ingest.record(document("a.md", "4"), [same("one", entry_id)], NOW)
    assert superseded(database) == ["1"]
    assert read(database, entry_id)[entry_id].editions == (DAY,)


def test_a_broken_version_takes_the_place_of_broken_ones_only(database, ingest):
    ingest.record(document("a.md", "1"), [new("one")], NOW)
    broken = {"state": DocumentState.QUARANTINED, "problems": (Problem(line=1, reason="no"),)}
    ingest.record(document("a.md", "2", DAY - timedelta(days=9), **broken), [], NOW)
    ingest.record(document("a.md", "3", **broken), [], NOW)
    assert superseded(database) == ["2"]
    ingest.record(document("a.md", "4", DAY + timedelta(days=9)), [new("two")], NOW)
    assert superseded(database) == ["2", "3"]


def test_one_of_many_replicas_records_a_file(database, database_url, opened):
    stores = [IngestStore(opened(database_url)) for _ in range(4)]
    recorded = at_once(4, lambda n: stores[n].record(document(), [new("one"), new("two", 2)], NOW))
    assert sum(one is not None for one in recorded) == 1
    assert (count(database, documents), count(database, entries), count(database, appearances)) == (1, 2, 2)


def test_files_that_share_new_entries_in_opposite_order_do_not_wait_for_each_other_for_ever(
    database, database_url, opened
):
    stores = [IngestStore(opened(database_url)) for _ in range(4)]
    names = [f"entry {number}" for number in range(30)]

    def run(number):
        order = names if number % 2 else names[::-1]
        return stores[number].record(
            document(f"{number}.md"), [new(one, place) for place, one in enumerate(order, 1)], NOW
        )

    assert sum(one is not None for one in at_once(4, run)) == 1
    assert count(database, entries) == len(names)


def test_one_of_many_replicas_revises_an_entry(database, database_url, opened, ingest):
    ingest.record(document(), [new("one")], NOW)
    entry_id = ingest.known_entries(["one"])["one"].id
    stores = [IngestStore(opened(database_url)) for _ in range(4)]
    recorded = at_once(4, lambda n: stores[n].record(document(f"b{n}.md"), [revised("one", entry_id)], NOW))
    assert sum(one is not None for one in recorded) == 1
    assert read(database, entry_id)[entry_id].revision == 2


@pytest.mark.parametrize(
    "extraction",
    [
        Extraction(),
        Extraction(
            verdict=Verdict.MUST_READ,
            verdict_span=Span(start=0, end=4),
            audience=("维护者",),
            figures=("+54/-24", "-55%~-65%"),
            topics=("rocm",),
        ),
    ],
)
def test_an_extraction_comes_back_as_it_was(database, ingest, extraction):
    assert extraction_of(extraction_json(extraction)) == extraction
    ingest.record(document(), [new("one", extraction=extraction)], NOW)
    entry_id = ingest.known_entries(["one"])["one"].id
    assert read(database, entry_id)[entry_id].extraction == extraction
