"""Measures how well the claims checker tells false sentences about figures from true ones. True sentences are written
about random figures; each false one differs from a true one in one thing.

Nothing here depends on how the checker reads sentences: whether one is true follows only from how it was written.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from agent.domain.claims.checked_text import unsupported_claims
from agent.domain.claims.facts import facts_of_findings
from contracts.languages import Language
from nexus_cli.evaluation.made_figures import MadeFigures, random_figures, units, wrong_percent
from nexus_cli.evaluation.phrases import (
    ABOVE,
    ADJECTIVES,
    BOTH,
    EVENTS,
    FIGURES,
    FOREIGN,
    LEVELS,
    MOVE,
    MOVED,
    PERIODS,
    SOURCED,
    SOURCES,
    date_in_words,
    money_in_words,
    number_in_words,
    percent_in_words,
)

CHANGES = (
    "direction", "comparison", "figure", "unit", "period", "ticker", "source", "event", "date",
)  # fmt: skip


@dataclass(frozen=True)
class Sentence:
    """A sentence and the figures it is about. `change` names what was made wrong in it; None if it is true."""

    text: str
    language: Language
    change: str | None
    world: MadeFigures


@dataclass
class ClaimCounts:
    """How many sentences were judged. `held_back`: true ones held back; `passed`: false ones not caught."""

    true: int = 0
    held_back: list[Sentence] = field(default_factory=list[Sentence])
    false: Counter[str] = field(default_factory=Counter[str])
    passed: list[Sentence] = field(default_factory=list[Sentence])

    def view(self) -> dict[str, Any]:
        return {
            "true": self.true,
            "held": len(self.held_back),
            "heldShare": round(len(self.held_back) / max(self.true, 1), 4),
            "false": sum(self.false.values()),
            "caught": sum(self.false.values()) - len(self.passed),
            "byChange": {
                change: {"made": count, "caught": count - sum(sentence.change == change for sentence in self.passed)}
                for change, count in sorted(self.false.items())
            },
            "examples": {
                "held": [sentence.text for sentence in self.held_back[:10]],
                "notCaught": [{"change": sentence.change, "text": sentence.text} for sentence in self.passed[:10]],
            },
        }


def measure(count: int, seed: int, on_sentence: Callable[[], None] = lambda: None) -> ClaimCounts:
    """Judges `count` changed sentences, and the true ones that they were made from."""
    measured = ClaimCounts()
    for sentence in made_sentences(count, seed):
        world = sentence.world
        facts = facts_of_findings(world.findings, [{"ticker": world.tickers[0], "source": world.source}])
        caught = bool(unsupported_claims(sentence.text, facts, "1y"))
        if sentence.change is None:
            measured.true += 1
            if caught:
                measured.held_back.append(sentence)
        else:
            measured.false[sentence.change] += 1
            if not caught:
                measured.passed.append(sentence)
            on_sentence()
    return measured


def made_sentences(count: int, seed: int) -> Iterator[Sentence]:
    """Yields true sentences, each followed by false ones made from it, until there are `count` false ones."""
    rng = random.Random(seed)
    remaining = count
    while remaining > 0:
        world = random_figures(rng)
        language: Language = rng.choice(("en", "es"))
        make = rng.choice(_MAKERS)
        true_text, changes = make(rng, world, language)
        if true_text is None:
            continue
        yield Sentence(true_text, language, None, world)
        for change, text in changes:
            if remaining > 0 and text != true_text:
                yield Sentence(text, language, change, world)
                remaining -= 1


Changes = list[tuple[str, str]]
WrittenSentences = tuple[str | None, Changes]


def _capitalized(text: str) -> str:
    return text[0].upper() + text[1:]


def _choice_except(rng: random.Random, values: Any, than: Any) -> Any:
    return rng.choice([value for value in values if value != than])


def _move(rng: random.Random, world: MadeFigures, language: Language) -> WrittenSentences:
    """IBM rose 2.7% over the last year, perhaps with its source."""
    ticker, period = rng.choice(world.tickers), rng.choice(list(PERIODS[language]))
    value = world.value(ticker, "return", period)
    template, verb = rng.choice(MOVED[language]), rng.randrange(len(MOVE[language]["up"]))
    phrase, source = rng.choice(PERIODS[language][period]), rng.choice(SOURCED[language])
    up = value > 0

    def write(**changed: Any) -> str:
        x = percent_in_words(abs(value), language)
        parts = {"ticker": ticker, "up": up, "x": x, "period": phrase, "source": world.source} | changed
        text = template.format(
            T=parts["ticker"], V=MOVE[language]["up" if parts["up"] else "down"][verb], X=parts["x"], P=parts["period"]
        )
        return source.format(S=_capitalized(text), N=parts["source"])

    changes: Changes = [("direction", write(up=not up)), ("figure", write(x=wrong_percent(rng, value, language)))]
    changes.append(("unit", write(x=rng.choice(units(percent_in_words(abs(value), language), language)))))
    other_period = _choice_except(rng, PERIODS[language], period)
    if percent_in_words(world.value(ticker, "return", other_period), language) != percent_in_words(value, language):
        changes.append(("period", write(period=rng.choice(PERIODS[language][other_period]))))
    other_ticker = _choice_except(rng, world.tickers, ticker)
    if percent_in_words(world.value(other_ticker, "return", period), language) != percent_in_words(value, language):
        changes.append(("ticker", write(ticker=other_ticker)))
    changes.append(("ticker", write(ticker=rng.choice(FOREIGN))))
    if "{N}" in source:
        changes.append(("source", write(source=rng.choice(SOURCES))))
    changes.append(("event", rng.choice(EVENTS[language]).format(T=ticker)))
    return write(), changes


def _bare_move(rng: random.Random, world: MadeFigures, language: Language) -> WrittenSentences:
    """IBM rose over the last year; both fell over the last month."""
    period = rng.choice(list(PERIODS[language]))
    phrase = rng.choice(PERIODS[language][period])
    ticker = rng.choice(world.tickers)
    up = world.value(ticker, "return", period) > 0
    verbs = {"en": {True: ("rose", "climbed", "advanced"), False: ("fell", "dropped", "declined")},
             "es": {True: ("subió", "avanzó"), False: ("bajó", "cayó")}}[language]  # fmt: skip
    form, index = rng.choice(("{T} {V} {P}.", "{P}, {T} {V}.")), rng.randrange(len(verbs[True]))

    def write(ticker: str = ticker, up: bool = up, phrase: str = phrase) -> str:
        return _capitalized(form.format(T=ticker, V=verbs[up][index], P=phrase))

    changes: Changes = [("direction", write(up=not up))]
    for other_period in PERIODS[language]:
        if (world.value(ticker, "return", other_period) > 0) != up:
            changes.append(("period", write(phrase=rng.choice(PERIODS[language][other_period]))))
            break
    for other_ticker in world.tickers:
        if (world.value(other_ticker, "return", period) > 0) != up:
            changes.append(("ticker", write(ticker=other_ticker)))
    return write(), changes


def _joint_move(rng: random.Random, world: MadeFigures, language: Language) -> WrittenSentences:
    """Both rose over the last year."""
    if len(world.tickers) != 2:
        return None, []
    period = rng.choice(list(PERIODS[language]))
    ups = [world.value(ticker, "return", period) > 0 for ticker in world.tickers]
    if len(set(ups)) > 1:
        good = [
            candidate
            for candidate in PERIODS[language]
            if len({world.value(t, "return", candidate) > 0 for t in world.tickers}) == 1
        ]
        if not good:
            return None, []
        bad, period = period, good[0]
        ups = [world.value(world.tickers[0], "return", period) > 0]
        form = rng.choice(BOTH[language][ups[0]])
        texts = [
            form.format(A=world.tickers[0], B=world.tickers[1], P=rng.choice(PERIODS[language][candidate]))
            for candidate in (period, bad)
        ]
        return texts[0], [("period", texts[1])]
    index = rng.randrange(len(BOTH[language][True]))
    texts = [
        BOTH[language][up][index].format(A=world.tickers[0], B=world.tickers[1], P=PERIODS[language][period][0])
        for up in (ups[0], not ups[0])
    ]
    return texts[0], [("direction", texts[1])]


def _two_moves(rng: random.Random, world: MadeFigures, language: Language) -> WrittenSentences:
    """IBM rose 2.7% while MSFT fell 13.4% over the last year."""
    first, other_ticker = rng.sample(world.tickers, 2)
    period = rng.choice(list(PERIODS[language]))
    values = [world.value(ticker, "return", period) for ticker in (first, other_ticker)]
    joints = {
        "en": (" while ", ", whereas ", " and ", ", but ", "; "),
        "es": (" mientras que ", " y ", ", pero ", "; "),
    }
    joint = rng.choice(joints[language])
    phrase, front = rng.choice(PERIODS[language][period]), rng.random() < 0.5
    verb = rng.randrange(len(MOVE[language]["up"]))

    def write(names: tuple[str, str] = (first, other_ticker), ups: tuple[bool, bool] = (values[0] > 0, values[1] > 0),
              xs: tuple[str, str] | None = None, phrase: str = phrase) -> str:  # fmt: skip
        figures = xs or (percent_in_words(abs(values[0]), language), percent_in_words(abs(values[1]), language))
        article = {"en": "", "es": "un "}[language]
        parts = [f"{names[i]} {MOVE[language]['up' if ups[i] else 'down'][verb]} {article}{figures[i]}" for i in (0, 1)]
        return _capitalized(f"{phrase}, {joint.join(parts)}." if front else f"{joint.join(parts)} {phrase}.")

    ups = (values[0] > 0, values[1] > 0)
    changes: Changes = [
        ("direction", write(ups=(not ups[0], ups[1]))),
        ("direction", write(ups=(ups[0], not ups[1]))),
        ("figure", write(xs=(percent_in_words(abs(values[0]), language), wrong_percent(rng, values[1], language)))),
    ]
    if percent_in_words(values[0], language) != percent_in_words(values[1], language):
        changes.append(("ticker", write(names=(other_ticker, first))))
    other_period = _choice_except(rng, PERIODS[language], period)
    if percent_in_words(world.value(other_ticker, "return", other_period), language) != percent_in_words(
        values[1], language
    ):
        changes.append(("period", write(phrase=rng.choice(PERIODS[language][other_period]))))
    return write(), changes


def _level(rng: random.Random, world: MadeFigures, language: Language) -> WrittenSentences:
    """IBM's volatility is 16.5%."""
    ticker, name = rng.choice(world.tickers), rng.choice(list(FIGURES[language]))
    value = world.value(ticker, name)
    template, label = rng.choice(LEVELS[language]), rng.choice(FIGURES[language][name])
    fraction = name in ("volatility", "max_drawdown", "net_margin", "dividend_yield")

    def in_words(value: float) -> str:
        if fraction:
            return percent_in_words(abs(value), language)
        return number_in_words(value, language, 1) if name == "pe" else money_in_words(value, language)

    def write(ticker: str = ticker, label: str = label, x: str | None = None) -> str:
        return _capitalized(template.format(T=ticker, F=label, X=x or in_words(value)))

    wrong = wrong_percent(rng, value, language) if fraction else in_words(value * rng.choice((0.7, 1.2, 1.6)))
    changes: Changes = [("figure", write(x=wrong))]
    if fraction:
        changes.append(("unit", write(x=rng.choice(units(in_words(value), language)))))
    elif name == "pe":
        changes.append(("unit", write(x=percent_in_words(value / 100, language))))
    else:
        euros = in_words(value).replace("USD", "EUR").replace("dólares", "euros")
        changes.append(("unit", write(x=euros)))
        if value > 1e9:
            scaled = in_words(value).replace("mil millones", "millones").replace("billion", "million")
            changes.append(("unit", write(x=scaled)))
    other_ticker = _choice_except(rng, world.tickers, ticker)
    if in_words(world.value(other_ticker, name)) != in_words(value):
        changes.append(("ticker", write(ticker=other_ticker)))
    other_figure = _choice_except(rng, FIGURES[language], name)
    if in_words(abs(world.value(ticker, other_figure))) != in_words(abs(value)):
        changes.append(("figure", write(label=rng.choice(FIGURES[language][other_figure]))))
    return write(), changes


def _comparison(rng: random.Random, world: MadeFigures, language: Language) -> WrittenSentences:
    """IBM is less volatile than MSFT."""
    ticker, other_ticker = rng.sample(world.tickers, 2)
    name = rng.choice(list(ADJECTIVES[language]))
    period = rng.choice(list(PERIODS[language])) if name == "return" else None
    a, b = (
        abs(v) if name == "max_drawdown" else v
        for v in (world.value(ticker, name, period), world.value(other_ticker, name, period))
    )
    if a == b:
        return None, []
    greater, smaller = rng.choice(ADJECTIVES[language][name])
    phrase = rng.choice(PERIODS[language][period]) if period else ""

    def write(first: str, second: str, form: str) -> str:
        return _capitalized(form.format(A=first, B=second, P=phrase).replace(" .", "."))

    true_form, false_form = (greater, smaller) if a > b else (smaller, greater)
    return write(ticker, other_ticker, true_form), [
        ("comparison", write(ticker, other_ticker, false_form)),
        ("ticker", write(other_ticker, ticker, true_form)),
    ]


def _price_against_average(rng: random.Random, world: MadeFigures, language: Language) -> WrittenSentences:
    """IBM closes above its 200-day average."""
    ticker, days = rng.choice(world.tickers), rng.choice((50, 200))
    above = world.value(ticker, "price") > world.value(ticker, f"sma_{days}")
    form = rng.randrange(len(ABOVE[language][True]))

    def write(ticker: str = ticker, above: bool = above) -> str:
        return ABOVE[language][above][form].format(T=ticker, N=days)

    changes: Changes = [("comparison", write(above=not above))]
    for other_ticker in world.tickers:
        if (world.value(other_ticker, "price") > world.value(other_ticker, f"sma_{days}")) != above:
            changes.append(("ticker", write(ticker=other_ticker)))
    return write(), changes


def _earnings_date(rng: random.Random, world: MadeFigures, language: Language) -> WrittenSentences:
    """The next earnings of IBM are expected on 18 April 2013."""
    ticker = rng.choice(world.tickers)
    day, status = str(world.value(ticker, "next_earnings_date")), str(world.value(ticker, "next_earnings_status"))
    forms = {
        "en": (
            "The next earnings of {T} are {C} for {D}.",
            "{T}'s next results: {D}, {C}.",
            "Next earnings of {T}: {D}, {C}.",
        ),
        "es": ("Los próximos resultados de {T} están {C} para el {D}.", "Próximos resultados de {T}: {D}, {C}."),
    }[language]
    sure = {
        "en": {"expected": "expected", "confirmed": "confirmed"},
        "es": {"expected": "previstos", "confirmed": "confirmados"},
    }[language]
    form = rng.choice(forms)

    def write(ticker: str = ticker, day: str = day, status: str = status) -> str:
        return form.format(T=ticker, D=date_in_words(day, language), C=sure[status])

    wrong = f"{day[:8]}{int(day[8:]) - rng.randint(1, 8):02}"
    changes: Changes = [("date", write(day=wrong)), ("comparison", write(status=_choice_except(rng, sure, status)))]
    other_ticker = _choice_except(rng, world.tickers, ticker)
    if world.value(other_ticker, "next_earnings_date") != day:
        changes.append(("ticker", write(ticker=other_ticker)))
    return write(), changes


def _extreme(rng: random.Random, world: MadeFigures, language: Language) -> WrittenSentences:
    """IBM did best; MSFT had the largest drawdown."""
    period = rng.choice(list(PERIODS[language]))
    phrase = rng.choice(PERIODS[language][period])
    criterion = rng.choice(("best", "worst", "volatility", "max_drawdown", "pe"))
    name = {"best": "return", "worst": "return"}.get(criterion, criterion)
    values = {t: abs(world.value(t, name)) if name != "return" else world.value(t, name, period) for t in world.tickers}
    if len(set(values.values())) < len(values):
        return None, []
    top = (min if criterion == "worst" else max)(values, key=lambda t: values[t])
    forms = {
        "en": {"best": ("{T} did best {P}.", "The best performer {P} was {T}."), "worst": ("{T} did worst {P}.",),
               "volatility": ("{T} had the highest volatility.", "The most volatile was {T}."),
               "max_drawdown": ("{T} had the largest maximum drawdown.",), "pe": ("{T} has the highest P/E.",)},
        "es": {"best": ("{P}, la mejor fue {T}.",), "worst": ("{P}, la peor fue {T}.",),
               "volatility": ("{T} tuvo la mayor volatilidad.", "La más volátil fue {T}."),
               "max_drawdown": ("{T} tuvo la mayor caída máxima.",), "pe": ("{T} tiene el PER más alto.",)},
    }[language][criterion]  # fmt: skip
    form = rng.choice(forms)

    def write(ticker: str) -> str:
        return _capitalized(form.format(T=ticker, P=phrase))

    return write(top), [("ticker", write(other_ticker)) for other_ticker in world.tickers if other_ticker != top]


_MAKERS: tuple[Callable[[random.Random, MadeFigures, Language], WrittenSentences], ...] = (
    _move, _move, _bare_move, _joint_move, _two_moves, _level, _level, _comparison, _price_against_average,
    _earnings_date, _extreme,
)  # fmt: skip
