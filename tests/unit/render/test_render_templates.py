"""A team's own templates: used, passed over when broken, and named with template, line and block."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

import bot.render
from bot.render import actions
from bot.render.budget import BoundedEnvironment
from bot.render.guard import check_source
from bot.render.messages import Renderer
from bot.render.pieces import template_functions
from bot.render.sample import check_templates, render_everything, sample_entries
from bot.render.templates import VALUES
from bot.render.views import Style
from bot.text import vocabulary
from tests.unit.render import seeds
from tests.unit.render.judges import judge, judge_view, walk

BUILT_IN = Path(bot.render.__file__).parent / "templates"


@pytest.fixture(scope="module")
def words():
    return vocabulary.load()


@pytest.fixture
def own(tmp_path):
    def write(source: str, name: str = "entry"):
        (tmp_path / f"{name}.json.j2").write_text(source, encoding="utf-8")
        return seeds.style(templates_dir=tmp_path)

    return write


def render(words, style):
    reports: list[tuple[str, str]] = []
    renderer = Renderer(vocabulary=words, on_fallback=lambda *report: reports.append(report))
    (message,) = renderer.entry(seeds.seed_entries()[0], style)
    return message, reports


def test_a_team_s_template_takes_the_built_in_one_s_place(words, own):
    style = own('[\n  {{ header(title_text) }},\n  {{ rich_text(verdict, " · ", edition, "\\n", body) }}\n]')
    message, reports = render(words, style)
    assert [block["type"] for block in message.blocks] == ["header", "rich_text"]
    assert message.text.startswith("修复 free_blocks 缓存关闭时块复用顺序被翻转的回归\n精读 · 12月1日\n值得精读")
    assert reports == []


BROKEN = [
    ('[\n  {"type": "header", "text": "{{ title_text }}"}\n]', "entry, line 2: an expression stands inside"),
    ("[\n\n  {{ titel }}\n]", "entry, line 3: titel is not defined; did you mean title?"),
    ("[\n  {{ rich_text(title) }}\n  {{ rich_text(body) }}\n]", "entry, line 3: does not write JSON"),
    ("[\n  {{ rich_text(title) }},\n]", "entry, line 3: does not write JSON"),
    ("[" * 5000 + "]" * 5000, "entry: does not write JSON"),
    ('[\n  {{ rich_text(title) }},\n\n  {\n    "type": "divder"\n  }\n]', "entry, line 4: block 2 (divder)"),
    ('[\n {{ header("x") }},\n {"type": "header", "text": {"type": "plain_text", "text": {{ body_text }}}}]',
     "entry, line 3: block 2 (header): "),
    ("[\n\n  {{ title_text + 1 }}\n]", "entry, line 3: + cannot use what it is given here (a text, a number): join"),
    ("{}", "entry: wants a JSON list"),
    ("[]", "entry: blocks: there is none"),
    ('[{"type": "section"}]', "entry, line 1: block 1 (section): has neither text nor fields"),
    ('[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"broadcast"}]}]}]', "entry, line 1: block 1 (rich_text): 'broadcast'"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "reason"), BROKEN)
def test_a_broken_template_falls_back_and_says_where(words, own, source, reason):
    style = own(source)
    message, reports = render(words, style)
    (built_in,) = Renderer(vocabulary=words).entry(seeds.seed_entries()[0], seeds.style())
    assert message == built_in
    assert [template for template, _ in reports] == ["entry"]
    assert reports[0][1].startswith(reason)
    assert any(fault.startswith(reason) for fault in check_templates(style.templates_dir, vocabulary=words))


_DOUBLED = "{% set a = 'x' %}" + "{% set a = METHOD %}" * 60 + "[{{ context(a) }}]"
_LARGE = "{% set a = 'x' * 3000000 ~ 'y' %}{% set b = 'x' * 3000000 ~ 'z' %}"
ENDLESS = [
    "[{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}null]",
    "[{% for i in range(99999) if title_text == i %}{% for j in range(99999) if false %}{% endfor %}{% endfor %}null]",
    "[{% for i in range(99999) %}{{ rich_text(title, body) }},{% endfor %}null]",
    "[{{ context('x' * 1000000000) }}]",
    "[{{ context([title_text] * 1000000000) }}]",
    "[{{ context(range(99999)|map('replace', '', title_text * 9999)|join) }}]",
    "[{{ context(range(99999)|join(title_text * 9999)) }}]",
    "[{{ context((title_text * 9999).replace('', title_text * 9999)) }}]",
    "[{{ context((title_text * 999).join(body_text * 999)) }}]",
    *(_DOUBLED.replace("METHOD", way) for way in ("a ~ a", "a + a", "[a, a]", "(a, a)", "{1: a, 2: a}")),
    _DOUBLED.replace("METHOD", "actions(a, a)"),
    _DOUBLED.replace("METHOD", "a * a").replace("'x'", "9"),
    _LARGE + "[{% for i in range(3000) %}{% if " + " or ".join(["a == b"] * 30) + " %}{% endif %}{% endfor %}null]",
]


@pytest.mark.parametrize("source", ENDLESS)
def test_a_template_that_works_without_end_is_ended_and_given_up(words, own, source):
    style = own(source)
    began = time.thread_time()
    message, reports = render(words, style)
    assert time.thread_time() - began < 4.0
    assert [block["type"] for block in message.blocks] == ["rich_text"]
    ((template, reason),) = reports
    assert template == "entry"
    assert reason.startswith("entry, line 1: ")
    assert "loop over less" in reason


def test_a_template_that_was_given_up_costs_the_next_message_nothing(words, own):
    reports: list[tuple[str, str]] = []
    renderer = Renderer(vocabulary=words, on_fallback=lambda *report: reports.append(report))
    style = own(ENDLESS[0])
    first, second, *_ = seeds.seed_entries()
    renderer.entry(first, style)
    renderer.entry(second, style)
    assert len(reports) == 1
    own("[{{ header(title_text) }}]")
    renderer.forget_templates()
    (message,) = renderer.entry(first, style)
    assert [block["type"] for block in message.blocks] == ["header"]


def test_a_template_may_loop_filter_and_join_as_much_as_a_message_holds(words, own):
    style = own(
        "{% set tags = ['a', 'b', 'a']|unique|map('upper')|list %}"
        "[{% for piece in title if piece.text %}{{ rich_text(bold(piece), ' ', loop.index ~ '/' ~ loop.length) }},"
        "{% endfor %}{{ context(tags|join(' · ') ~ ' ' ~ '-' * 3) }},"
        "{% for day, name in [(1, 'x'), (2, 'y')] %}{{ context(day ~ name.upper() ~ loop.cycle('', '!')) }},"
        "{% endfor %}{{ header(said(title).strip()|truncate(20)) }}]"
    )
    message, reports = render(words, style)
    assert reports == []
    assert message.text.splitlines()[-4:-1] == ["A · B ---", "1X", "2Y!"]


MISUSED = [
    ("header(body)", "header() cannot use what it is given here (a list): write header(title_text)"),
    ("header()", "header() cannot use what it is given here (nothing): write header(title_text)"),
    ("button(1, 2)", 'button() cannot use what it is given here (a number, a number): write button("Open"'),
    ("select('a', 'b', 5)", "select() cannot use what it is given here (a text, a text, a number): write select("),
    ("rich_text({'a': 1})", "rich_text() cannot use what it is given here (an object): write rich_text("),
    ("numbered(5)", "numbered() cannot use what it is given here (a number): write numbered(lists)"),
    ("range(body)", "range() cannot use what it is given here (a list): write range(3)"),
    ("range(1000000)", "range() cannot use what it is given here (a number): write range(3), with a number up to"),
    ("title_text()", "cannot be called here"),
    ("'{:>9}'.format(1)", "cannot be called here"),
    ("title_text.center(9)", "center cannot be called here"),
    ("'%9d' % 1", "join texts with ~"),
    ("title_text|center(9)", "|center is not for templates"),
    ("title_text|uper", "|uper is not for templates; did you mean upper?"),
    ("(" * 3000 + "1" + ")" * 3000, "is nested too deeply"),
    ("1" + " + 1" * 9000, "is nested too deeply"),
    ("title is nosuch", "No test named 'nosuch'"),
]


@pytest.mark.parametrize(("expression", "reason"), MISUSED)
def test_a_misuse_is_told_in_the_words_of_the_template_s_author(words, own, expression, reason):
    style = own("[\n  {{ rich_text(title, body) }},\n  {{ " + expression + " }}\n]")
    _, reports = render(words, style)
    ((_, told),) = reports
    assert told.startswith("entry")
    assert "nested" in reason or told.startswith("entry, line 3: ")
    assert reason in told
    assert "Error" not in told


def test_loops_nested_too_deeply_are_a_fault_of_the_template(words, own):
    style = own("{% for i in title %}" * 30 + "{% endfor %}" * 30 + "[]")
    _, reports = render(words, style)
    assert reports == [("entry", "entry: is nested too deeply: write it with fewer levels")]


def test_a_template_that_fails_only_for_nasty_entries_is_found_by_the_check(words, own):
    style = own('[{"type": "header", "text": {"type": "plain_text", "text": {{ title_text }}, "emoji": false}}]')
    _, reports = render(words, style)
    assert reports == []
    assert "entry, line 1: block 1 (header): " in "".join(check_templates(style.templates_dir, vocabulary=words))


def test_a_template_that_says_too_much_of_a_cut_entry_is_passed_over_too(words, own):
    style = own("[\n  {{ context(title_text) }},\n  {{ rich_text(title, '\\n', body) }}\n]")
    reports: list[tuple[str, str]] = []
    renderer = Renderer(vocabulary=words, on_fallback=lambda *report: reports.append(report))
    long = replace(seeds.seed_entries()[0], title="很长" * 400, body="一句话，没有完。" * 300)
    first, *_ = renderer.entry(long, style)
    assert [block["type"] for block in first.blocks] == ["rich_text", "actions"]
    assert reports
    assert all(reason.startswith("entry: text: ") for _, reason in reports)
    assert not any("built-in" in fault for fault in check_templates(style.templates_dir, vocabulary=words))


def test_unknown_files_and_folders_are_reported(words, own, tmp_path):
    style = own("[]", name="entri")
    assert "there is no such template" in "".join(check_templates(style.templates_dir, vocabulary=words))
    assert "is no folder" in "".join(check_templates(tmp_path / "missing", vocabulary=words))


def test_the_built_in_templates_pass_with_the_nastiest_entries(words):
    assert check_templates(None, vocabulary=words) == ()


def test_everything_rendered_from_the_nastiest_entries_passes_every_judge(words):
    mentions = frozenset({"U1", "C1"})
    for made in render_everything(Renderer(vocabulary=words), Style(show_repo=True)):
        for one in made if isinstance(made, tuple) else (made,):
            if isinstance(one, dict):
                judge_view(one, mentions=mentions)
            else:
                judge(one, mentions=mentions)


@pytest.mark.parametrize("path", sorted(BUILT_IN.glob("*.json.j2")), ids=lambda path: path.name)
def test_every_built_in_template_is_short_and_does_what_a_team_s_may(path):
    source = path.read_text(encoding="utf-8")
    assert source.startswith("{#")
    assert source.count("\n") <= 25
    name = path.name.removesuffix(".json.j2")
    environment = BoundedEnvironment(template_functions())
    check_source(environment, source, template=name, names=VALUES[name])


def test_every_template_has_its_file():
    assert {path.name.removesuffix(".json.j2") for path in BUILT_IN.iterdir()} == set(VALUES)


def test_every_action_of_a_template_has_a_name_in_one_module(words):
    known = {value for name, value in vars(actions).items() if name.isupper()}
    used = set()
    for made in render_everything(Renderer(vocabulary=words), Style()):
        for one in made if isinstance(made, tuple) else (made,):
            blocks = one["blocks"] if isinstance(one, dict) else one.blocks
            used |= {found["action_id"] for found in walk(blocks) if "action_id" in found}
    assert used <= known
    assert {"entry_open", "entry_save", "entry_unsave", "entry_share", "entry_thread", "search_next"} <= used


@pytest.mark.parametrize("cut_at", [None, 600])
def test_the_parts_of_a_long_entry_hold_all_of_it(words, cut_at):
    long = sample_entries()[1]
    renderer = Renderer(vocabulary=words)
    first, *rest = renderer.entry(long, seeds.style(cut_at=cut_at))
    assert len(rest) > 1
    shown = "".join(part.text.partition("\n")[2] for part in (first, *rest))
    assert "".join(shown.split()).count("code_word") == 12 * 40
    assert all("（续 " in part.text.partition("\n")[0] for part in rest)


def test_a_modal_holds_all_of_a_long_entry(words):
    view = Renderer(vocabulary=words).modal(sample_entries()[1], seeds.style(), saved=False)
    shown = [one["text"] for one in walk(view["blocks"]) if one.get("style", {}) == {"code": True}]
    assert shown.count("code_word") == 12 * 40
    assert len(view["blocks"]) > 3
