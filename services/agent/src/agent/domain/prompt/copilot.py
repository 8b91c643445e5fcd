"""The copilot's part of the system prompt: sections about the customer, in Spanish and English.

Empty sections are left out. Text from people or from outside is put on one line, so that it cannot imitate a section.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agent.domain.prompt.copilot_words import INSTRUCTIONS, SUPPORT, WORDS, Words
from agent.domain.prompt.layers import MAX_SUMMARY_LENGTH, base_layer, persona_lines
from agent.domain.text_features import one_line
from contracts.company import CompanyConfig
from contracts.context_rpc import (
    ContextMarket,
    ContextMemory,
    ContextPortfolio,
    ContextUser,
    FullContext,
    RelevantSymbol,
)
from contracts.languages import Language
from contracts.market_rpc import ActiveAlert
from contracts.memory_rpc import fact_id

MAX_SYMBOLS = 5
MAX_EVENTS = 3
MAX_FAVOURITES = 5
MAX_POSITIONS = 20
MAX_ALERTS = 20
MAX_NOTES = 12
CORRECTION_TOOL = "update_memory"
"""The tool that corrects a fact by its id."""


@dataclass(frozen=True, slots=True)
class Customer:
    """What the signed principal says of the customer, without the context."""

    plan: str
    language: Language


def copilot_sections(
    language: Language,
    context: FullContext | None,
    customer: Customer,
    *,
    company: CompanyConfig | None = None,
    summary: str | None = None,
) -> str:
    """Layer 1 of a customer's prompt: of a trading platform the copilot's, of any other company its own assistant's.
    `company`: None for a trading platform without settings; `summary`: of the conversation so far, if the prompt needs
    one."""
    words = WORDS[language]
    context = context or FullContext(missing=["context"])
    if company is not None and not company.trades:
        return _joined(
            base_layer(language, company),
            _user(words, context, customer, trades=False),
            _known(words, _without_trading(context)),
            _conversation(words, _without_trading(context), summary),
            _section(words["instruct"], [*(words[key] for key in SUPPORT), *_missing(words, context)]),
        )
    introduction = (
        [company.custom_system_prompt or "", words["role"], *persona_lines(language, company)]
        if company
        else [words["role"]]
    )
    return _joined(
        "\n".join(filter(None, introduction)),
        _user(words, context, customer, trades=True),
        _market(words, context.market, _zone(context.user), language) if context.market else "",
        _holdings(words, context.portfolio, context.alerts),
        _known(words, context),
        _conversation(words, context, summary),
        _section(words["instruct"], [*(words[key] for key in INSTRUCTIONS), *_missing(words, context)]),
    )


def _joined(*sections: str) -> str:
    return "\n\n".join(section for section in sections if section)


def _without_trading(context: FullContext) -> FullContext:
    """The context without what is only remembered for trading."""
    memory, talk = context.memory, context.conversation
    return context.model_copy(
        update={
            "memory": None if memory is None else ContextMemory(user_notes=memory.user_notes),
            "conversation": None if talk is None else talk.model_copy(update={"mentioned_symbols": []}),
        }
    )


def _user(words: Words, context: FullContext, customer: Customer, *, trades: bool) -> str:
    user = context.user
    language = user.language if user else customer.language
    trading_facts = [
        (words["plan"], user.plan if user else customer.plan),
        (words["risk"], words.get(f"risks.{user.risk_profile}") if user else None),
        (words["experience"], words.get(f"experiences.{user.experience}") if user else None),
    ]
    facts = [
        (words["name"], user.name if user else None),
        *(trading_facts if trades else ()),
        (words["language"], words.get(f"languages.{language[:2]}", language)),
        (words["timezone"], _timezone(words, context)),
    ]
    return _section(words["user"], (f"{name}: {one_line(value)}" for name, value in facts if value))


def _timezone(words: Words, context: FullContext) -> str | None:
    if context.user is None:
        return None
    if context.system is None:
        return context.user.timezone
    now = f"{context.system.current_date.isoformat()} {context.system.current_time}"
    return f"{context.user.timezone} ({words['now']} {now})"


def _market(words: Words, market: ContextMarket, zone: tzinfo, language: Language) -> str:
    lines: list[str] = []
    if market.status is not None:
        status = f"{words['status']}: {words[f'statuses.{market.status}']}"
        if market.current_time is not None:
            status += f"; {words['time']}: {_moment(market.current_time, zone)}"
        if market.next_open is not None:
            status += f"; {words['next_open']}: {_moment(market.next_open, zone)}"
        lines.append(status)
    if market_note := (market.notes or {}).get(language):
        lines.append(one_line(market_note))
    lines.extend(_price(symbol, zone) for symbol in market.relevant_symbols[:MAX_SYMBOLS])
    for event in market.upcoming_events[:MAX_EVENTS]:
        about = f"{event.symbol}: " if event.symbol else ""
        lines.append(f"{event.date.isoformat()} {one_line(about + event.name)} ({words[f'impacts.{event.impact}']})")
    return _section(words["market"], lines)


def _holdings(words: Words, portfolio: ContextPortfolio | None, alerts: list[ActiveAlert] | None) -> str:
    lines: list[str] = []
    if portfolio is not None:
        holdings = [
            f"{_number(position.quantity)} {position.symbol} {words['at']} {position.average_price:,.2f}"
            + (f" ({words['now']} {position.price:,.2f})" if position.price is not None else "")
            for position in portfolio.positions[:MAX_POSITIONS]
        ]
        hidden_count = len(portfolio.positions) - MAX_POSITIONS
        if hidden_count > 0:
            holdings.append(words["more"].format(count=hidden_count))
        holdings.append(f"{words['cash']} {portfolio.cash:,.2f} {portfolio.currency}")
        holdings.append(f"{words['equity']} {portfolio.equity:,.2f} {portfolio.currency}")
        lines.append(f"{words['holdings']}: {'; '.join(holdings)}")
    if alerts:
        alert_texts = [f"{alert.symbol} {alert.condition} {alert.price:,.2f}" for alert in alerts[:MAX_ALERTS]]
        if len(alerts) > MAX_ALERTS:
            alert_texts.append(words["more"].format(count=len(alerts) - MAX_ALERTS))
        lines.append(f"{words['alerts']}: {'; '.join(alert_texts)}")
    return _section(words["portfolio"], lines)


def _known(words: Words, context: FullContext) -> str:
    user, memory = context.user, context.memory
    lines: list[str] = []
    offered = (context.system.available_tools if context.system else None) or ()
    has_correction_tool = CORRECTION_TOOL in offered
    if memory is not None:
        if memory.favorite_symbols:
            lines.append(f"{words['favourites']}: {', '.join(map(one_line, memory.favorite_symbols[:MAX_FAVOURITES]))}")
        if style := words.get(f"styles.{memory.trading_style}"):
            lines.append(f"{words['style']}: {style}")
        if memory.recent_strategies:
            latest = memory.recent_strategies[0]
            about = f"{latest.name} ({latest.symbol})" if latest.symbol else latest.name
            lines.append(
                f"{words['strategy']}: {one_line(f'{about}, {latest.date.isoformat()}: {latest.description}')}"
            )
    if user is not None and user.preferences:
        lines.append(f"{words['preferences']}: {_facts(user.preferences, with_id=has_correction_tool)}")
    if memory is not None and memory.user_notes:
        lines.append(f"{words['notes']}: {_facts(memory.user_notes, with_id=has_correction_tool)}")
    return _section(words["known"], lines)


def _facts(texts: Sequence[str], *, with_id: bool) -> str:
    """Remembered facts. `with_id`: with their ids, for a model that can have them corrected or forgotten."""
    return "; ".join(one_line(text, 200) + (f" [{fact_id(text)}]" if with_id else "") for text in texts[:MAX_NOTES])


def _conversation(words: Words, context: FullContext, summary: str | None) -> str:
    lines: list[str] = []
    if summary:
        lines.append(f"{words['summary']}: {one_line(summary, MAX_SUMMARY_LENGTH)}")
    conversation = context.conversation
    if conversation is not None:
        if conversation.recent_topics:
            lines.append(f"{words['topics']}: {', '.join(one_line(topic, 80) for topic in conversation.recent_topics)}")
        if conversation.mentioned_symbols:
            lines.append(f"{words['mentioned']}: {', '.join(map(one_line, conversation.mentioned_symbols))}")
    return _section(words["conversation"], lines)


def _missing(words: Words, context: FullContext) -> list[str]:
    missing = [words[key] for name in context.missing if (key := f"parts.{name}") in words]
    return [f"{words['missing']}: {', '.join(dict.fromkeys(missing))}"] if missing else []


def _section(title: str, lines: Iterable[str]) -> str:
    """A section with its lines; empty without lines."""
    items = [f"- {line}" for line in lines]
    return "\n".join([f"## {title}", *items]) if items else ""


def _price(symbol: RelevantSymbol, zone: tzinfo) -> str:
    """A price with its source and time."""
    moved = "" if symbol.change_percent is None else f" ({symbol.change_percent:+.2f}%)"
    time = "" if symbol.as_of is None else _moment(symbol.as_of, zone)
    origin = ", ".join(part for part in (one_line(symbol.source, 40) if symbol.source else "", time) if part)
    return f"{one_line(symbol.symbol)}: {_amount(symbol.price)}{moved}" + (f" [{origin}]" if origin else "")


def _amount(price: float) -> str:
    return f"{price:,.2f}" if abs(price) >= 1 else f"{price:.6g}"


def _number(quantity: float) -> str:
    return f"{quantity:,.8f}".rstrip("0").rstrip(".")


def _zone(user: ContextUser | None) -> tzinfo:
    try:
        return ZoneInfo(user.timezone) if user else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def _moment(time: datetime, zone: tzinfo) -> str:
    return time.astimezone(zone).strftime("%Y-%m-%d %H:%M %Z")
