"""What turns teach about their user."""

from datetime import UTC, datetime, timedelta

import pytest

from memory.domain.lesson import FinishedTurn, with_favourite, with_lesson
from memory.domain.mentions import mentioned_symbols
from memory.domain.questions import are_same_question, questions, template
from memory.domain.remembered import Remembered, current_facts

DAY = datetime(2026, 1, 5, 15, tzinfo=UTC)


def lesson(number: int, *texts: str, known: frozenset[str] | None = None) -> FinishedTurn:
    symbols = frozenset(name for text in texts for name in mentioned_symbols(text))
    return FinishedTurn(f"t{number}", DAY + timedelta(days=number), texts, symbols if known is None else known)


def after(*texts: str) -> Remembered:
    state = Remembered()
    for number, text in enumerate(texts):
        state = with_lesson(state, lesson(number, text))
    return state


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("What about AAPL and MSFT?", ["AAPL", "MSFT"]),
        ("btc, Eth/usd y SOLUSDT", ["BTC/USD", "ETH/USD", "SOL/USDT"]),
        ("I THINK A stock IS good FOR ME", ["THINK"]),
        ("¿QUE HAGO CON MIS ACCIONES HOY?", []),
        ("$AAPL $ALL", ["AAPL", "ALL"]),
        ("BRK.B sube", ["BRK.B"]),
        ("BTC/USDT is not BTC", ["BTC/USDT", "BTC/USD"]),
        ("El ETF de LA bolsa", []),
        ("insolvente, bitcoin, solamente", []),
        ("AAPL AAPL AAPL", ["AAPL"]),
    ],
)
def test_symbols_are_found_and_common_words_are_none(text: str, symbols: list[str]) -> None:
    assert mentioned_symbols(text) == symbols


@pytest.mark.parametrize(
    ("question", "made"),
    [
        ("Should I buy $5,000 of AAPL", "Should I buy [AMOUNT] of [SYMBOL]"),
        ("¿Compro 200 dólares de BTC", "¿Compro [AMOUNT] de [SYMBOL]"),
        ("Is an RSI of 30 low", "Is an RSI of 30 low"),
        ("x" * 300, "x" * 100),
        ("How much is 3k EUR in BTC", "How much is [AMOUNT] in [SYMBOL]"),
        ("¿Qué hago con 10 mil pesos", "¿Qué hago con [AMOUNT]"),
        ("Are 20 000 dollars or £1.5 million enough", "Are [AMOUNT] or [AMOUNT] enough"),
        ("Why did 2024 end well", "Why did 2024 end well"),
    ],
)
def test_a_template_has_no_amounts_and_no_symbols_and_is_short(question: str, made: str) -> None:
    assert template(question) == made


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("what is the price of AAPL", "what is the price of MSFT", True),
        ("What is the PRICE of $AAPL now", "what is the price of MSFT now", True),
        (
            "should I buy BTC now or wait until the close today",
            "should I sell BTC now or wait until the close today",
            False,
        ),
        (
            "¿debo comprar BTC ahora o espero al cierre de hoy",
            "¿debo vender BTC ahora o espero al cierre de hoy",
            False,
        ),
        ("is an RSI of 30 a good moment to enter", "is an RSI of 70 a good moment to enter", False),
        ("should I not hold this stock until the next week", "should I hold this stock until the next week", False),
        ("¿no debo comprar acciones antes de resultados", "¿debo comprar acciones antes de resultados", False),
        ("what is a stop loss", "how do dividends work", False),
        ("does the second quarter count for my taxes here", "does the third quarter count for my taxes here", False),
        ("¿pago impuestos si vendo antes de dos años aquí", "¿pago impuestos si vendo antes de tres años aquí", False),
    ],
)
def test_only_the_same_question_merges(one: str, other: str, *, alike: bool) -> None:
    assert are_same_question(template(one), template(other)) is alike
    assert are_same_question(template(other), template(one)) is alike


def test_only_what_has_a_question_mark_is_a_question() -> None:
    assert questions("what is a stop loss") == []
    assert questions("Hola. ¿Qué es un stop loss? Gracias. And RSI?") == ["Qué es un stop loss?", "And RSI?"]


def test_the_same_turn_ten_times_changes_nothing_more() -> None:
    text = "I prefer swing trading. Remember that I live in Lima. What is the price of AAPL?"
    once = after(text)
    state = once
    for _ in range(9):
        assert with_lesson(state, lesson(0, text)) is state
    assert once.memory.preferences == ["I prefer swing trading"]
    assert once.memory.user_notes == ["I live in Lima"]
    assert once.memory.frequent_questions == ["What is the price of [SYMBOL]?"]
    assert once.memory.trading_style == "swing"


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("my flatmate's a day trader, I just hold ETFs", None),
        ("ahora prefiero el scalping", "scalping"),
        ("el hace scalping", None),
        ("mi hermano hace scalping y yo hago swing", "swing"),
        ("I do swing trading", "swing"),
        ("Hago day trading", "day_trading"),
        ("me dedico al scalping", "scalping"),
        ("invierto a largo plazo", "long_term"),
        ("I invest for the long term", "long_term"),
        ("I moved from swing to day trading", "day_trading"),
        ("pasé de swing a day trading", "day_trading"),
        ("ya no hago scalping", None),
        ("I don't do day trading", None),
        ("What is swing trading?", None),
        ("nice weather", None),
    ],
)
def test_a_style_is_what_the_user_says_they_do(text: str, style: str | None) -> None:
    assert after(text).memory.trading_style == style


def test_a_style_that_changes_supersedes_the_older_one_which_keeps_its_dates() -> None:
    state = after("I do swing trading", "hello", "I moved from swing to day trading")
    assert state.memory.trading_style == "day_trading"
    (past,) = state.memory.superseded
    assert (past.field, past.value, past.since, past.until) == (
        "tradingStyle",
        "swing",
        DAY,
        DAY + timedelta(days=2),
    )


def test_a_symbol_asked_about_in_three_turns_is_a_favourite_and_an_unknown_one_never() -> None:
    state = Remembered()
    for number in range(2):
        state = with_lesson(state, lesson(number, "AAPL AAPL AAPL ZZZZ?", known=frozenset({"AAPL"})))
    assert state.memory.favorite_symbols == []
    state = with_lesson(state, lesson(2, "AAPL ZZZZ?", known=frozenset({"AAPL"})))
    assert state.memory.favorite_symbols == ["AAPL"]


def test_every_list_is_capped_and_the_newest_is_first() -> None:
    state = Remembered()
    for number in range(60):
        letters = "".join(chr(105 + int(digit)) for digit in f"{number:03d}")
        text = f"Remember that note {letters}. I like plan {letters}. What does word {letters} mean with covered calls?"
        state = with_lesson(state, lesson(number, text))
        state = with_favourite(state, f"S{number}", f"call{number}", DAY)
    memory = state.memory
    assert [len(memory.user_notes), len(memory.frequent_questions), len(memory.favorite_symbols)] == [50, 20, 20]
    assert memory.user_notes[0].startswith("note inr")
    assert memory.favorite_symbols[0] == "S59"
    assert [strategy.name for strategy in memory.recent_strategies] == ["covered calls"]
    assert with_favourite(state, "S1", "call59", DAY) is state


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("Recuerda que cobro el día 5.", "cobro el día 5"),
        ("No olvides que tengo dos hijos", "tengo dos hijos"),
        ("Please remember: no tobacco stocks", "no tobacco stocks"),
        ("I remember that crash well", None),
        ("Do you remember that?", None),
    ],
)
def test_a_note_is_what_the_user_asks_to_remember(text: str, note: str | None) -> None:
    assert after(text).memory.user_notes == ([note] if note else [])


@pytest.mark.parametrize(
    ("text", "preference"),
    [
        ("Prefiero respuestas cortas.", "Prefiero respuestas cortas"),
        ("Me gustan los dividendos", "Me gustan los dividendos"),
        ("Siempre uso stop loss", "Siempre uso stop loss"),
        ("I always set a stop loss", "I always set a stop loss"),
        ("It is what I'd call fine", None),
        ("I'd like to know the price of AAPL", None),
        ("I'd rather read charts", "I'd rather read charts"),
    ],
)
def test_a_preference_is_kept_in_the_users_own_words(text: str, preference: str | None) -> None:
    assert after(text).memory.preferences == ([preference] if preference else [])


@pytest.mark.parametrize(
    "texts",
    [
        ("In my IRA I am conservative", "In my trading account I am aggressive"),
        ("Con mi pensión soy prudente", "Con mi cartera personal soy agresivo"),
        ("I can't stand long emails", "I promised my wife not to trade on weekends"),
        ("No soporto los correos largos", "Le prometí a mi mujer no operar los fines de semana"),
    ],
)
def test_what_is_said_of_a_part_of_the_money_what_somebody_cannot_stand_and_what_they_promised_are_facts(
    texts: tuple[str, str],
) -> None:
    assert set(current_facts(after(*texts).memory)) == set(texts)


def test_a_fact_that_says_the_same_as_the_old_profile_becomes_history_with_it() -> None:
    memory = after("Soy muy conservador con mi dinero", "Me he vuelto más arriesgado").memory
    assert (memory.risk_profile, memory.user_notes) == ("aggressive", [])
    assert {past.field for past in memory.superseded} == {"riskProfile", "userNotes"}
