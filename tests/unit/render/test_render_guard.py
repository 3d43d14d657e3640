"""Everything that a template may not do is refused when it is loaded, with its line and with advice."""

from __future__ import annotations

import pytest

from bot.errors import TemplateError
from bot.render.environment import JsonEnvironment, compile_template, render_blocks, trace_lines
from bot.render.guard import check_source
from bot.render.pieces import template_functions

NAMES = frozenset({"title", "body", "items", "flag"})
NASTY = 'quote " backslash \\ newline \n tab \t {{ 7*7 }} {% raw %} </script> \u2028 \x00 <!channel> &amp; 👨‍👩‍👧 ] } ,'


@pytest.fixture(scope="module")
def environment():
    return JsonEnvironment(template_functions())


def load(environment, source):
    check_source(environment, source, template="entry", names=NAMES)
    return compile_template(environment, source, template="entry")


REFUSED = [
    ('[{"type": "header", "text": "{{ title }}"}]', 1, "inside a JSON string"),
    ('[\n{"text": "before {{ title }} after"}]', 2, "inside a JSON string"),
    ('[{"text": "\\"{{ title }}"}]', 1, "inside a JSON string"),
    ('[{"text": "{# hidden #}{{ title }}"}]', 1, "inside a JSON string"),
    ('[{"text": "{% if flag %}a{% endif %}"}]', 1, "inside a JSON string"),
    ('[{% if flag %}"{% endif %}]', 1, "does not end"),
    ('[\n\n"open]', 3, "does not end"),
    ("[{{ title|safe }}]", 1, "safe has no meaning"),
    ("[{{ title|tojson }}]", 1, "serialise the value twice"),
    ("[{{ title|e }}]", 1, "for HTML"),
    ("[{{ title|escape }}]", 1, "for HTML"),
    ("[{{ title|forceescape }}]", 1, "for HTML"),
    ("[{{ title|urlize }}]", 1, "use link"),
    ("[{{ {'a': title}|xmlattr }}]", 1, "for HTML"),
    ("[{{ title|pprint }}]", 1, "Python text"),
    ("[{{ body|string }}]", 1, "Python text"),
    ("[\n{% macro m() %}{}{% endmacro %}{{ m() }}]", 2, "macro returns text"),
    ("[{% call title() %}x{% endcall %}]", 1, "{% call %}"),
    ("[{% filter upper %}{}{% endfilter %}]", 1, "{% filter %}"),
    ("[{% set x %}{}{% endset %}{{ x }}]", 1, "{% set %}"),
    ("[{% autoescape true %}{{ title }}{% endautoescape %}]", 1, "{% autoescape %}"),
    ("{% include 'other' %}", 1, "{% include %}"),
    ("{% import 'other' as o %}[]", 1, "{% import %}"),
    ("{% from 'other' import o %}[]", 1, "{% from %}"),
    ("{% extends 'other' %}", 1, "{% extends %}"),
    ("[{% block one %}{% endblock %}]", 1, "{% block %}"),
    ("[{{ self.one() }}]", 1, "rendered text"),
    ("[{{ super() }}]", 1, "rendered text"),
    ("[{{ caller() }}]", 1, "rendered text"),
    ("[{% for i in items recursive %}{{ loop(i) }}{% endfor %}]", 1, "recursive"),
    ("[{{ 9 ** 9 ** 9 }}]", 1, "take for ever"),
    ('[\n{"type": "section", "text": {"type": "mrkdwn", "text": {{ title }}}}]', 2, "rich_text"),
    ('[{"type": "markdown", "text": {{ title }}}]', 1, "rich_text"),
    ("[{{ titel }}]", 1, "did you mean title?"),
    ("[{{ lipsum() }}]", 1, "not defined"),
    ("[{{ cycler(1) }}]", 1, "not defined"),
    ("[\n\n{{ title ]", 3, ""),
    ('[\n"\x00"]', 2, "NUL"),
    ("[{% do title %}]", 1, "unknown tag"),
    ("[{% trans %}x{% endtrans %}]", 1, "unknown tag"),
]


@pytest.mark.parametrize(("source", "line", "advice"), REFUSED)
def test_what_cannot_be_made_safe_is_refused_with_line_and_advice(environment, source, line, advice):
    with pytest.raises(TemplateError) as refusal:
        load(environment, source)
    assert f"entry, line {line}: " in str(refusal.value)
    assert advice in str(refusal.value)


ESCAPES = [
    "[{{ title.__class__ }}]",
    "[{{ ''.__class__.__mro__ }}]",
    "[{{ bold.__globals__ }}]",
    "[{{ items.append(1) }}]",
    "[{{ title.format_map(items) }}]",
    "[{{ title.missing }}]",
    "[{{ items[99] }}]",
    "[{{ 1 / 0 }}]",
    "[{{ title + 1 }}]",
    "[{{ range(999999999) | list }}]",
    "[{{ bold }}]",
    "[{{ 1e999 }}]",
]


@pytest.mark.parametrize("source", ESCAPES)
def test_a_template_cannot_reach_the_program_around_it_nor_break_it(environment, source):
    compiled = load(environment, source)
    with pytest.raises(TemplateError):
        render_blocks(compiled, {"title": "t", "body": "", "items": [], "flag": True}, template="entry")


PLACES = [
    "[{{ {'t': title} }}]",
    '[{"t": {{ title }}}]',
    '[{"t": {{ title ~ "!" }}}]',
    "[{% for i in [title, title] %}{{ {'t': i} }}{% if not loop.last %},{% endif %}{% endfor %}]",
    '[{"t": {% if flag %}{{ title }}{% else %}"none"{% endif %}}]',
    "[{ {{ title }}: 1 }]",
    "[{% set x = title %}{{ {'t': x} }}]",
    "[{% with x = title %}{{ {'t': x} }}{% endwith %}]",
    "[{{ rich_text(title) }}]",
    "[{{ {'t': '%s' | format(title)} }}]",
    "[{{ {'t': [title, title] | join(', ')} }}]",
    '[{"t": {{ title | upper | replace("A", title) }}}]',
    '[{% raw %}{"t": "{{ not an expression }}"}{% endraw %}, {{ {"t": title} }}]',
]


@pytest.mark.parametrize("source", PLACES)
def test_wherever_a_value_may_stand_it_cannot_break_the_json(environment, source):
    compiled = load(environment, source)
    values = {"title": NASTY, "body": [], "items": [NASTY], "flag": True}
    assert render_blocks(compiled, values, template="entry")


def test_a_value_comes_out_as_it_went_in(environment):
    compiled = load(environment, '[{"t": {{ title }}}]')
    assert render_blocks(compiled, {"title": NASTY}, template="entry") == ({"t": NASTY},)


def test_empty_places_are_dropped(environment):
    compiled = load(environment, "[{{ context('') }}, {{ rich_text(title) }}, {{ none }}]")
    blocks = render_blocks(compiled, {"title": "t"}, template="entry")
    assert [block["type"] for block in blocks] == ["rich_text"]


def test_output_that_is_no_list_of_blocks_is_refused(environment):
    for source in ("{}", "[1]", "[", "", "{{ title }}"):
        with pytest.raises(TemplateError):
            render_blocks(load(environment, source), {"title": "t"}, template="entry")


def test_every_character_of_the_output_knows_its_line(environment):
    source = '[\n  {{ rich_text(title) }},\n  {% if flag %}\n  {"a": 1},\n  {% endif %}\n  {"b": 2}\n  {"c": 3}\n]'
    trace = trace_lines(environment, source, {"title": "x\ny", "flag": True}, template="entry")
    assert trace.error_line() == 7
    assert [trace.block_line(number) for number in (1, 2, 3)] == [2, 4, 6]
