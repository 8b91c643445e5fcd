"""How figures are written for people, in es and en: 2.9% or 2,9 %, USD 202.91 or 202,91 USD, 1 March 2013."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime

from agent.domain.analysis.asked import Period
from agent.domain.analysis.stretches import ALL_TIME
from contracts.languages import Language
from contracts.spoken import MONTH_NAMES

_SPANISH = str.maketrans(",.", ".,")
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:|$)")
OVER: dict[Period, dict[Language, str]] = {
    "1d": {"es": "En la última sesión, {date}", "en": "On the last session, {date}"},
    "1w": {"es": "En la semana hasta el {date}", "en": "Over the week to {date}"},
    "1m": {"es": "En el mes hasta el {date}", "en": "Over the month to {date}"},
    "3m": {"es": "En los tres meses hasta el {date}", "en": "Over the three months to {date}"},
    "1y": {"es": "En el año hasta el {date}", "en": "Over the year to {date}"},
    "ytd": {"es": "En lo que va de año, hasta el {date}", "en": "Year to date, up to {date}"},
}
SHORT: dict[Period, dict[Language, str]] = {
    "1d": {"es": "1 día", "en": "1 day"},
    "1w": {"es": "1 semana", "en": "1 week"},
    "1m": {"es": "1 mes", "en": "1 month"},
    "3m": {"es": "3 meses", "en": "3 months"},
    "1y": {"es": "1 año", "en": "1 year"},
    "ytd": {"es": "en lo que va de año", "en": "year to date"},
}
_PARTS = (
    ("day", "día", "días"),
    ("week", "semana", "semanas"),
    ("month", "mes", "meses"),
    ("quarter", "trimestre", "trimestres"),
    ("year", "año", "años"),
)
"""Parts of a stretch: in English, in Spanish, several in Spanish."""
FIGURES: dict[str, dict[Language, str]] = {
    **{
        f"{end}_{en}": {"es": f"{una} {es}", "en": f"{end} {en}"}
        for en, es, _ in _PARTS
        for end, una in (("best", "mejor"), ("worst", "peor"))
    },
    **{
        f"{end}_{en}s": {"es": f"{unas} {es}", "en": f"{end} {en}s"}
        for en, _, es in _PARTS
        for end, unas in (("best", "mejores"), ("worst", "peores"))
    },
    **{
        f"{way}_{en}s": {"es": f"{es} {hacia}", "en": f"{en}s {way}"}
        for en, _, es in _PARTS
        for way, hacia in (("up", "al alza"), ("down", "a la baja"))
    },
    "pe": {"es": "PER", "en": "P/E"},
    "eps": {"es": "beneficio por acción", "en": "EPS"},
    "revenue": {"es": "ingresos", "en": "revenue"},
    "market_cap": {"es": "capitalización", "en": "market cap"},
    "gross_margin": {"es": "margen bruto", "en": "gross margin"},
    "net_margin": {"es": "margen neto", "en": "net margin"},
    "dividend_yield": {"es": "rentabilidad por dividendo", "en": "dividend yield"},
    "beta": {"es": "beta", "en": "beta"},
    "max_drawdown": {"es": "caída máxima", "en": "maximum drawdown"},
    "current_drawdown": {"es": "caída actual", "en": "current drawdown"},
    "volatility": {"es": "volatilidad anualizada", "en": "annualised volatility"},
    "sma_20": {"es": "media de 20 sesiones", "en": "20-day average"},
    "sma_50": {"es": "media de 50 sesiones", "en": "50-day average"},
    "sma_200": {"es": "media de 200 sesiones", "en": "200-day average"},
    "atr_14": {"es": "ATR de 14 sesiones", "en": "14-day ATR"},
    "atr_share": {"es": "ATR en proporción al precio", "en": "ATR as a share of the price"},
    "volume_zscore": {"es": "z del volumen", "en": "volume z-score"},
    "return": {"es": "rentabilidad", "en": "return"},
    "high": {"es": "máximo", "en": "high"},
    "low": {"es": "mínimo", "en": "low"},
    "close": {"es": "cierre", "en": "close"},
    "price": {"es": "precio", "en": "price"},
    "cagr": {"es": "rentabilidad anualizada", "en": "annualised return"},
    "total_return": {"es": "rentabilidad con dividendos reinvertidos", "en": "return with dividends reinvested"},
    "dividends": {"es": "dividendos por acción", "en": "dividends a share"},
    "up_streak": {"es": "racha alcista más larga en sesiones", "en": "longest winning streak in sessions"},
    "down_streak": {"es": "racha bajista más larga en sesiones", "en": "longest losing streak in sessions"},
    "up_days": {"es": "sesiones al alza", "en": "sessions up"},
    "down_days": {"es": "sesiones a la baja", "en": "sessions down"},
    "week_return": {"es": "rentabilidad", "en": "return"},
    "month_return": {"es": "rentabilidad", "en": "return"},
    "quarter_return": {"es": "rentabilidad", "en": "return"},
    "year_return": {"es": "rentabilidad", "en": "return"},
    "total_cagr": {
        "es": "rentabilidad anualizada con dividendos reinvertidos",
        "en": "annualised return with dividends reinvested",
    },
    "shares": {"es": "acciones", "en": "shares"},
    "base": {"es": "cierre", "en": "close"},
    "highest_close": {"es": "cierre más alto", "en": "highest close"},
    "lowest_close": {"es": "cierre más bajo", "en": "lowest close"},
    "average_volume": {"es": "volumen medio diario", "en": "average daily volume"},
    "highest_volume": {"es": "mayor volumen", "en": "highest volume"},
    "drawdowns": {"es": "los periodos de caída", "en": "the drawdown periods"},
    "crossings": {"es": "los cruces de medias", "en": "the crossings of averages"},
    "averages": {"es": "las medias", "en": "the averages"},
    "news": {"es": "las noticias", "en": "the news"},
    "sentiment": {"es": "el tono de las noticias", "en": "the tone of the news"},
    "backtest": {"es": "la prueba de la regla", "en": "the trial of the rule"},
    "fundamentals": {"es": "los fundamentales", "en": "the fundamentals"},
    "BB": {"es": "las bandas de Bollinger", "en": "Bollinger bands"},
    "macd": {"es": "MACD", "en": "MACD"},
    "signal": {"es": "señal del MACD", "en": "MACD signal"},
    "histogram": {"es": "histograma del MACD", "en": "MACD histogram"},
    "upper": {"es": "banda superior", "en": "upper band"},
    "middle": {"es": "banda media", "en": "middle band"},
    "lower": {"es": "banda inferior", "en": "lower band"},
    "growth": {"es": "la cantidad se habría convertido en", "en": "the amount would have become"},
    "final": {"es": "capital final", "en": "final capital"},
    "costs": {"es": "costes", "en": "costs"},
    "exposure": {"es": "tiempo invertido", "en": "time invested"},
    "correlation": {"es": "correlación", "en": "correlation"},
    "next_earnings_date": {"es": "próximos resultados", "en": "next earnings date"},
    "next_dividend_date": {"es": "próximo dividendo", "en": "next dividend date"},
}


def figure_name(name: str, language: Language) -> str:
    """What a person calls a figure; returns by their period."""
    group, _, period = name.partition(".")
    if group == "returns" and period in SHORT:
        return f"{FIGURES['return'][language]} ({SHORT[period][language]})"
    return FIGURES[name][language] if name in FIGURES else name


def percent(fraction: float, language: Language) -> str:
    """0.0294 as 2.9% or 2,9 %."""
    text = f"{fraction * 100:.1f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return f"{text.replace('.', ',')} %" if language == "es" else f"{text}%"


def number(value: float, language: Language, places: int = 2) -> str:
    """1234.5 as 1,234.50 or 1.234,50."""
    text = f"{value:,.{places}f}"
    return text.translate(_SPANISH) if language == "es" else text


def figure(value: float, language: Language) -> str:
    """A figure with its own digits: 1234.5 as 1,234.5 or 1234,5; 3.0 as 3.

    In Spanish thousands are marked from a million on: below, 1.000 could be read as one.
    """
    text = f"{value:,.8f}".rstrip("0").rstrip(".")
    if language == "en":
        return text
    return text.translate(_SPANISH) if abs(value) >= 1e6 else text.replace(",", "").replace(".", ",")


def signed(text: str) -> str:
    """A figure or a percentage that tells a move: with its sign, also where that is a plus."""
    return text if text.startswith("-") else f"+{text}"


def money(value: float, currency: str | None, language: Language) -> str:
    """202.91 as USD 202.91 or 202,91 USD; large amounts in billions or millions."""
    unit, scaled = "", value
    if abs(value) >= 1e9:
        unit, scaled = {"es": " mil millones de", "en": " billion"}[language], value / 1e9
    elif abs(value) >= 1e6:
        unit, scaled = {"es": " millones de", "en": " million"}[language], value / 1e6
    text = number(scaled, language, 1 if unit else 2)
    name = currency or ""
    written = f"{text}{unit} {name}" if language == "es" else f"{name} {text}{unit}"
    return written.strip()


def day(moment: str | date | datetime, language: Language) -> str:
    """2013-03-01 as 1 March 2013 or 1 de marzo de 2013."""
    found = as_date(moment)
    month = MONTH_NAMES[language][found.month - 1]
    return f"{found.day} de {month} de {found.year}" if language == "es" else f"{found.day} {month} {found.year}"


def moment(written: object, language: Language) -> str:
    """2012-11-01T20:00:00Z as 1 November 2012, 20:00 UTC or 1 de noviembre de 2012, 20:00 UTC; a date as its day.

    What is neither is given as it is: providers call some periods by names of their own.
    """
    text = str(written)
    if not _DATED.match(text):
        return text
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return text
    if len(text) == len("2012-11-01"):
        return day(found, language)
    found = found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    return f"{day(found, language)}, {found:%H:%M} UTC"


def as_date(moment: str | date | datetime) -> date:
    """The date of a moment as the tools write it (RFC 3339), or of a date."""
    if isinstance(moment, datetime):
        return moment.date()
    return moment if isinstance(moment, date) else date.fromisoformat(moment[:10])


def joined(parts: Sequence[str], language: Language) -> str:
    """a, b and c."""
    if len(parts) < 2:
        return "".join(parts)
    # Spanish says e before the sound of an i.
    spanish = " e " if parts[-1][:1] in "iI" else " y "
    last = {"es": spanish, "en": " and "}[language]
    return ", ".join(parts[:-1]) + last + parts[-1]


_UNITS: dict[str, dict[Language, tuple[str, str]]] = {
    "d": {"es": ("día", "días"), "en": ("day", "days")},
    "w": {"es": ("semana", "semanas"), "en": ("week", "weeks")},
    "m": {"es": ("mes", "meses"), "en": ("month", "months")},
    "y": {"es": ("año", "años"), "en": ("year", "years")},
}


def over(asked: str, language: Language) -> str:
    """2008-01-01/2008-12-31 as from 1 January 2008 to 31 December 2008; 5y as over the last 5 years."""
    first, slash, last = asked.partition("/")
    if slash and first == last:
        return {"es": f"El {day(first, language)}", "en": f"On {day(first, language)}"}[language]
    if slash and first == ALL_TIME.arguments["start"] and last:
        return {
            "es": f"Desde el primer dato hasta el {day(last, language)}",
            "en": f"From the first day there is to {day(last, language)}",
        }[language]
    if slash and last:
        return {
            "es": f"Del {day(first, language)} al {day(last, language)}",
            "en": f"From {day(first, language)} to {day(last, language)}",
        }[language]
    if asked == ALL_TIME.period:
        return {"es": "En todos los datos que hay", "en": "Over all the data there are"}[language]
    if slash:
        return {"es": f"Desde el {day(first, language)}", "en": f"Since {day(first, language)}"}[language]
    if asked == "ytd":
        return {"es": "En lo que va de año", "en": "Year to date"}[language]
    count = int(asked[:-1])
    unit = _UNITS[asked[-1]][language][count > 1]
    if language == "es":
        return f"En un periodo de {count} {unit}" if count == 1 else f"En los últimos {count} {unit}"
    return f"Over the last {unit}" if count == 1 else f"Over the last {count} {unit}"
