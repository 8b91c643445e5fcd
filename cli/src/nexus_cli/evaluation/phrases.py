"""The phrases that sentences about figures are made of, in Spanish and English (nexus_cli.evaluation.claims)."""

from __future__ import annotations

from contracts.calendar_names import month_name

PERIODS: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "1w": ("over the last week", "in the past week", "over one week"),
        "1m": ("over the last month", "in the past month", "over the past 30 days"),
        "3m": ("over the last three months", "in the past quarter", "over the last 3 months"),
        "1y": ("over the last year", "over the past 12 months", "in the last twelve months", "over the year"),
        "ytd": ("year to date", "so far this year", "this year"),
    },
    "es": {
        "1w": ("en la última semana", "en una semana"),
        "1m": ("en el último mes", "en los últimos 30 días"),
        "3m": ("en los últimos tres meses", "en el último trimestre", "en los últimos 3 meses"),
        "1y": ("en el último año", "en los últimos 12 meses", "en los últimos doce meses", "en un año"),
        "ytd": ("en lo que va de año", "este año"),
    },
}
MOVE: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "up": ("rose", "gained", "was up", "climbed", "advanced", "has risen"),
        "down": ("fell", "lost", "was down", "dropped", "declined", "has fallen"),
    },
    "es": {
        "up": ("subió", "ganó", "avanzó", "ha subido", "se revalorizó", "creció"),
        "down": ("bajó", "perdió", "retrocedió", "ha bajado", "cayó", "descendió"),
    },
}
MOVED: dict[str, tuple[str, ...]] = {
    "en": (
        "{T} {V} {X} {P}",
        "{P}, {T} {V} {X}",
        "{P} {T} {V} {X}",
        "{P} the price of {T} {V} by {X}",
        "shares of {T} {V} {X} {P}",
        "{T}'s stock {V} about {X} {P}",
    ),
    "es": (
        "{T} {V} un {X} {P}",
        "{P}, {T} {V} un {X}",
        "{P} {T} {V} un {X}",
        "el precio de {T} {V} un {X} {P}",
        "las acciones de {T} {V} un {X} {P}",
        "{T} {V} cerca de un {X} {P}",
    ),
}
SOURCED: dict[str, tuple[str, ...]] = {
    "en": ("{S}.", "{S}.", "{S} (source: {N}).", "{S}, according to {N}.", "According to {N}: {S}."),
    "es": ("{S}.", "{S}.", "{S} (fuente: {N}).", "{S}, según {N}.", "Según {N}: {S}."),
}
SOURCES = ("Bloomberg", "Reuters", "Morningstar", "CNBC", "FactSet", "Refinitiv")
FOREIGN = ("NVDA", "TSLA", "AMZN", "ORCL", "INTC")
EVENTS: dict[str, tuple[str, ...]] = {
    "en": (
        "{T}'s CEO resigned.",
        "{T} announced a merger.",
        "{T} was sued by its investors.",
        "{T} launched a new product.",
        "Analysts upgraded {T}.",
        "{T} beat expectations.",
        "{T} cut its dividend.",
        "{T} is under investigation.",
    ),
    "es": (
        "El consejero delegado de {T} dimitió.",
        "{T} anunció una fusión.",
        "{T} fue demandada por sus inversores.",
        "{T} lanzó un nuevo producto.",
        "Los analistas mejoraron {T}.",
        "{T} recortó su dividendo.",
    ),
}
FIGURES: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "volatility": ("volatility", "annualised volatility"),
        "max_drawdown": ("maximum drawdown", "worst drawdown"),
        "pe": ("P/E", "price-to-earnings ratio"),
        "net_margin": ("net margin",),
        "dividend_yield": ("dividend yield",),
        "market_cap": ("market cap", "market capitalisation"),
        "revenue": ("revenue",),
        "price": ("price", "last close"),
    },
    "es": {
        "volatility": ("volatilidad", "volatilidad anualizada"),
        "max_drawdown": ("caída máxima",),
        "pe": ("PER",),
        "net_margin": ("margen neto",),
        "dividend_yield": ("rentabilidad por dividendo",),
        "market_cap": ("capitalización", "capitalización bursátil"),
        "revenue": ("cifra de ingresos",),
        "price": ("precio", "último cierre"),
    },
}
LEVELS: dict[str, tuple[str, ...]] = {
    "en": (
        "{T}'s {F} is {X}.",
        "the {F} of {T} was {X}.",
        "{T} has a {F} of {X}.",
        "{T}: {F} {X}.",
        "{F} of {T}: {X}.",
        "{T} shows a {F} of about {X}.",
    ),
    "es": (
        "la {F} de {T} es {X}.",
        "{T} tiene una {F} de {X}.",
        "{T}: {F} {X}.",
        "{F} de {T}: {X}.",
        "el dato de {F} de {T} es de {X}.",
        "{T} presenta un {F} de unos {X}.",
    ),
}
ADJECTIVES: dict[str, dict[str, tuple[tuple[str, str], ...]]] = {
    "en": {
        "volatility": (
            ("{A} is more volatile than {B}.", "{A} is less volatile than {B}."),
            ("{A}'s volatility is higher than {B}'s.", "{A}'s volatility is lower than {B}'s."),
            ("{A} has a higher volatility than {B}.", "{A} has a lower volatility than {B}."),
        ),
        "max_drawdown": (
            ("{A} had a larger maximum drawdown than {B}.", "{A} had a smaller maximum drawdown than {B}."),
        ),
        "pe": (
            ("{A} has a higher P/E than {B}.", "{A} has a lower P/E than {B}."),
            ("By P/E, {A} is more expensive than {B}.", "By P/E, {A} is cheaper than {B}."),
        ),
        "net_margin": (("{A}'s net margin is above {B}'s.", "{A}'s net margin is below {B}'s."),),
        "return": (
            ("{A} did better than {B} {P}.", "{A} did worse than {B} {P}."),
            ("{P}, {A} outperformed {B}.", "{P}, {A} underperformed {B}."),
            ("{A} beat {B} {P}.", "{A} lagged {B} {P}."),
        ),
    },
    "es": {
        "volatility": (
            ("{A} es más volátil que {B}.", "{A} es menos volátil que {B}."),
            ("La volatilidad de {A} es mayor que la de {B}.", "La volatilidad de {A} es menor que la de {B}."),
            ("{A} tiene una volatilidad superior a la de {B}.", "{A} tiene una volatilidad inferior a la de {B}."),
        ),
        "max_drawdown": (("{A} tuvo una caída máxima mayor que {B}.", "{A} tuvo una caída máxima menor que {B}."),),
        "pe": (("{A} tiene un PER más alto que {B}.", "{A} tiene un PER más bajo que {B}."),),
        "net_margin": (
            ("El margen neto de {A} es mayor que el de {B}.", "El margen neto de {A} es menor que el de {B}."),
        ),
        "return": (
            ("{A} lo hizo mejor que {B} {P}.", "{A} lo hizo peor que {B} {P}."),
            ("{P}, {A} superó a {B}.", "{P}, {A} quedó por detrás de {B}."),
        ),
    },
}
ABOVE: dict[str, dict[bool, tuple[str, ...]]] = {
    "en": {
        True: (
            "{T} closes above its {N}-day average.",
            "{T} trades above its {N}-day moving average.",
            "{T} is above its SMA {N}.",
        ),
        False: (
            "{T} closes below its {N}-day average.",
            "{T} trades below its {N}-day moving average.",
            "{T} is below its SMA {N}.",
        ),
    },
    "es": {
        True: (
            "{T} cierra por encima de su media de {N} sesiones.",
            "{T} cotiza por encima de la media móvil de {N} días.",
        ),
        False: (
            "{T} cierra por debajo de su media de {N} sesiones.",
            "{T} cotiza por debajo de la media móvil de {N} días.",
        ),
    },
}
BOTH: dict[str, dict[bool, tuple[str, ...]]] = {
    "en": {
        True: ("Both rose {P}.", "{A} and {B} both gained {P}.", "{A} and {B} rose {P}."),
        False: ("Both fell {P}.", "{A} and {B} both lost {P}.", "{A} and {B} fell {P}."),
    },
    "es": {
        True: ("Ambos subieron {P}.", "{A} y {B} subieron {P}.", "Los dos ganaron {P}."),
        False: ("Ambos bajaron {P}.", "{A} y {B} bajaron {P}.", "Los dos perdieron {P}."),
    },
}


def number_in_words(value: float, language: str, places: int) -> str:
    """1234.5 as 1,234.50 or 1.234,50."""
    text = f"{value:,.{places}f}"
    return text.translate(str.maketrans(",.", ".,")) if language == "es" else text


def percent_in_words(fraction: float, language: str) -> str:
    """0.027 as 2.7% or 2,7 %."""
    text = number_in_words(fraction * 100, language, 1)
    return f"{text} %" if language == "es" else f"{text}%"


def money_in_words(value: float, language: str) -> str:
    """USD 202.91, 202,91 USD, USD 234.5 billion, 234,5 mil millones de dólares."""
    if value >= 1e9:
        text = number_in_words(value / 1e9, language, 1)
        return f"{text} mil millones de dólares" if language == "es" else f"USD {text} billion"
    text = number_in_words(value, language, 2)
    return f"{text} USD" if language == "es" else f"USD {text}"


def date_in_words(day: object, language: str) -> str:
    """2013-04-18 as 18 April 2013 or 18 de abril de 2013."""
    year, month, number = str(day).split("-")
    name = month_name(int(month), language)
    return f"{int(number)} de {name} de {year}" if language == "es" else f"{int(number)} {name} {year}"
