"""Texts made to cost time: whoever writes or answers them gets no more of it than for any other of their length.

Each stands for expressions that took the square of its length, or more; `make expressions` looks through all there are.
"""

import importlib
import sys
import time
from collections.abc import Callable
from datetime import date

import pytest

from agent.domain.analysis import asked, relative_days
from agent.domain.analysis.grammar import read_question
from agent.domain.analysis.question_patterns import COSTS
from agent.domain.assist import parse_improved
from agent.domain.claims.agreement import directions_agree, normalize_phrases
from agent.domain.claims.spoken_frame import without_spoken_frame
from agent.domain.knowledge import MARK
from agent.domain.number_words import in_figures
from agent.domain.offline import conditions, shapes
from agent.domain.offline.changes import change_in, spent_in
from agent.domain.offline.coming_events import coming_events
from agent.domain.offline.grammar import TAKES_BACK
from agent.domain.offline.listed import chosen_item
from agent.domain.offline.talk_words import OF_ONESELF, TELLS
from agent.domain.offline.unread import as_requested
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.promise import promised_tools
from contracts.person_rules import PersonRule, RuleInput, matching_rule
from memory.domain import corrections, questions
from memory.domain.lesson import is_about_memory
from memory.domain.long_term import asked_notes, attributes, endings, own_words, pasted, plain_facts, speech
from tests.security.expressions import held
from tool_executor.domain import redaction
from tool_executor.domain.site_address import Origin, Site

MOST = 2.0
"""Seconds of CPU for 40,000 characters, or 20,000 where a text is read part by part. An expression in linear time takes
a few milliseconds."""
RULE = PersonRule(to="person", pages=["/" + "*a" * 200 + "*b"])
HOSTILE: tuple[tuple[Callable[[str], object], str], ...] = (
    (asked.period_in, "the " * 10_000),
    (asked.is_analysis, "AAPL IBM " + "which " * 6_500),
    (in_figures, "two hundred thousand " * 2_000),
    (lambda text: read_question(text, ("IBM",)), "over " * 4_000),
    (lambda text: read_question(text, ("IBM",)), "1" * 40_000),
    (lambda text: read_question(text, ("IBM",)), "invested veinticuatro" + " y veinticuatro" * 2_500),
    (lambda text: read_question(text, ("IBM",)), "would buying close above 5 a month how far " * 450),
    (attributes.attribute_values, "temporary work back in trabajo de " * 1_200),
    (endings.endings, "kate left my knee se me rompio el se me acabo la " * 800),
    (
        lambda text: coming_events(text, {"current_time": "2013-03-04", "upcoming_events": []}, "en"),
        "events fed " * 3_600,
    ),
    (without_spoken_frame, "no, usually an rsi above from -1 to march the 5 " * 800),
    (MARK.search, " " * 40_000),
    (
        lambda text: as_requested(text, Wish(Intent.TOOL, (("cancel_paper_order", {}),))),
        "cancel it" + " " * 40_000 + "x",
    ),
    (lambda text: chosen_item(text, "- AAPL", ("list_alerts",), ["my alerts"]), "🦜" * 40_000),
    (promised_tools, "ok--" * 10_000),
    (normalize_phrases, "IBM traded within a range of 5 " * 2_000),
    (normalize_phrases, "5% a little more at " * 3_000),
    (normalize_phrases, "1" * 40_000),
    (directions_agree, "1" * 40_000),
    (directions_agree, "1," * 20_000),
    (change_in, "1" * 40_000),
    (spent_in, "1," * 20_000),
    (conditions.distance_in, "1," * 20_000),
    (TAKES_BACK.search, "borra el de " + "." * 40_000 + " x"),
    (is_about_memory, "-" * 40_000),
    (is_about_memory, "eso de " + "borralo-" * 5_000),
    (attributes.attribute_values, "i am " + "now " * 10_000),
    (own_words.may_state_fact, "i " + "also " * 8_000),
    (plain_facts.is_plain_fact, "i " + "also " * 8_000),
    (pasted.unquoted, "\n" * 40_000),
    (pasted.without_pasted_text, "Ab Cd\n\nSay 1. " * 60),
    (pasted.without_pasted_text, "A" * 900 + "\n" * 40_000),
    (lambda text: [pasted.without_pasted_text(text) for _ in range(20)], " " * 2_000),
    (speech.statements, "and " * 10_000 + "what a b c d"),
    (TELLS.match, "oye. " * 8_000),
    (speech.statements, "translate this text: x\n" + " " * 8_000 + "y"),
    (speech.statements, "could you " * 800),
    (plain_facts.clauses, "i live" + " " * 40_000 + "in Rome"),
    (questions.template, "1." * 20_000),
    (COSTS.search, "1" * 40_000),
    (dict(shapes.SHAPES)["=duration"].search, "11 " + "1" * 4_000),
    (shapes.COUNTED.search, "1." * 20_000),
    (corrections.past_correction, "no, that is " + " ," * 8_000),
    (conditions.distance_in, "5 dollars " * 1_500),
    (lambda text: relative_days.with_past_days(text, date(2012, 9, 5)), "on last el este " * 1_000),
    (OF_ONESELF.match, "so, i " * 3_000),
    (asked_notes.requested_notes, "." + " " * 8_000),
    (lambda page: matching_rule([RULE], RuleInput("", page=page)), "/" + "a" * 4_000),
    (Site((Origin("https", "a.example", 443),), denied=("/" + "**a*" * 100 + "b",)).page, "/" + "a" * 2_000),
)


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_text_made_to_cost_time_costs_none(number: int) -> None:
    reads, text = HOSTILE[number]
    began = time.process_time()
    reads(text)
    assert time.process_time() - began < MOST


def test_every_expression_of_the_agent_can_be_compiled() -> None:
    importlib.import_module("agent.app")
    modules = [module for name, module in sys.modules.items() if name.startswith("agent.")]
    assert sum(1 for module in modules for value in vars(module).values() for _ in held(value)) > 1_000


def test_what_such_expressions_find_they_still_find() -> None:
    assert questions.questions("Hello. How much is it? And when?!\nwhy") == ["How much is it?", "And when?"]
    assert questions.template("Is 1,500.50 usd enough?") == "Is [AMOUNT] enough?"
    assert pasted.unquoted("I said «no» and “yes”.\n  > quoted\nend") == "I said      and      .\n          \nend"
    assert asked.period_in("how did it do over the last three months?").period == "3m"
    assert promised_tools("OK, sure: noted.")
    assert promised_tools("Perfecto. Vale, genial, anotado")
    assert TAKES_BACK.search("please borra el de aapl. por favor!")
    assert TAKES_BACK.search("no, cancel that one.")
    assert parse_improved("<think>hm</think>Hello <think>there") == "Hello <think>there"
    assert redaction.masked({"note": "use eyJhbGciOiJI.eyJzdWIiOiIx.c2ln now"}) == {"note": "use *** now"}
