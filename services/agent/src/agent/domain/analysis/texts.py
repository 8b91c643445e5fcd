"""The texts of an analysis besides its figures: refusals, limitations, the disclaimer. In Spanish and English."""

from contracts.languages import Language

DISCLAIMER: dict[Language, str] = {
    "es": "Información, no asesoramiento financiero: no tiene en cuenta tu situación y no garantiza ningún "
    "resultado. Lo "
    "que pasó no dice lo que pasará.",
    "en": "Information, not financial advice: it does not know your situation and promises no result. What has "
    "happened "
    "does not say what will happen.",
}
_SUMMARIES: dict[str, dict[Language, str]] = {
    "advice": {
        "es": "No doy consejos personales de compra, venta o inversión. Sí puedo analizar o comparar valores con sus "
        "datos: por ejemplo, «compara IBM y MSFT en el último año».",
        "en": "I give no personal advice on what to buy, sell or invest in. I can analyse or compare tickers by their "
        "figures: for example, “compare IBM and MSFT over the last year”.",
    },
    "guarantee": {
        "es": "Nadie puede garantizar lo que hará un mercado, y yo tampoco. Sí puedo decir qué ha pasado: por ejemplo, "
        "«compara IBM y MSFT en el último año».",
        "en": "Nobody can guarantee what a market will do, and neither can I. I can say what has happened: for "
        "example, "
        "“compare IBM and MSFT over the last year”.",
    },
    "other": {
        "es": "Solo analizo mercados y finanzas. Pregúntame por valores concretos: por ejemplo, «compara IBM y MSFT "
        "en el "
        "último año».",
        "en": "I analyse markets and finance only. Ask about particular tickers: for example, “compare IBM and MSFT "
        "over "
        "the last year”.",
    },
    "no_tickers": {
        "es": "¿De qué valor? Dime al menos un símbolo, por ejemplo IBM o MSFT, y lo analizo.",
        "en": "Which ticker? Name at least one, for example IBM or MSFT, and I will analyse it.",
    },
    "nothing": {
        "es": "No he podido obtener ningún dato de {tickers}; los motivos están en las limitaciones.",
        "en": "No figures could be had for {tickers}; the limitations say why.",
    },
}
_NOTES: dict[str, dict[Language, str]] = {
    "refused": {
        "es": "No se ha consultado ningún dato: la pregunta está fuera de lo que se responde aquí.",
        "en": "Nothing was looked up: the question is outside what is answered here.",
    },
    "asks": {
        "es": "No se ha consultado ningún dato: falta saber de qué valor.",
        "en": "Nothing was looked up: no ticker is known.",
    },
    "too_many": {
        "es": "La pregunta nombra más de {max} valores: se han tomado los primeros.",
        "en": "The question names more than {max} tickers: the first ones were taken.",
    },
    "spelt": {
        "es": "«{written}» se ha leído como «{read}».",
        "en": "“{written}” was read as “{read}”.",
    },
    "proxies": {
        "es": "La pregunta no nombra ningún valor: se han tomado los de referencia configurados ({tickers}).",
        "en": "The question names no ticker: the configured proxies were taken ({tickers}).",
    },
    "inferred": {
        "es": "Los valores ({tickers}) los ha deducido el modelo de la pregunta: comprueba que son los que querías.",
        "en": "The tickers ({tickers}) were inferred from the question by the model: check that they are the ones you "
        "meant.",
    },
    "no_model_asked": {
        "es": "Sin modelo: las herramientas se han elegido por regla, según las palabras de la pregunta, y el "
        "resumen está redactado por regla.",
        "en": "No model was used: the tools were chosen by rule, from the words of the question, and the "
        "summary "
        "is worded by rule.",
    },
    "model_away": {
        "es": "El modelo no ha respondido ({reason}): las herramientas se han elegido por regla y el resumen está "
        "redactado por regla.",
        "en": "The model did not answer ({reason}): the tools were chosen by rule and the summary is worded by rule.",
    },
    "bad_routing": {
        "es": "La elección de herramientas del modelo no se ha podido leer: se han elegido por regla.",
        "en": "The model's choice of tools could not be read: they were chosen by rule.",
    },
    "empty_routing": {
        "es": "El modelo no ha elegido ninguna herramienta que se pueda usar: se han elegido por regla.",
        "en": "The model chose no tool that can be used: they were chosen by rule.",
    },
    "unknown_tools": {
        "es": "El modelo ha pedido herramientas que no existen: se han dejado fuera.",
        "en": "The model asked for tools that do not exist: they were left out.",
    },
    "other_tickers": {
        "es": "El modelo ha pedido datos de otros valores que los de este análisis: se han dejado fuera.",
        "en": "The model asked about other tickers than this analysis is about: they were left out.",
    },
    "over_ticker_budget": {
        "es": "Se han repetido consultas: cada herramienta se usa por valor tantas veces como dice su presupuesto.",
        "en": "Calls were repeated: each tool runs on a ticker as often as its budget says, and no more.",
    },
    "not_answered": {
        "es": "No respondido: {what} de {tickers}, porque {reason}.",
        "en": "Not answered: {what} of {tickers}, because {reason}.",
    },
    "over_budget": {
        "es": "El presupuesto de {max} consultas no ha alcanzado para {tool} de {tickers}.",
        "en": "The budget of {max} calls did not reach as far as {tool} for {tickers}.",
    },
    "tool_away": {
        "es": "La herramienta {tool} no está disponible: sin ella faltan sus datos.",
        "en": "The tool {tool} is not available: its figures are missing.",
    },
    "invalid_output": {
        "es": "{tool} ha dado dos veces una respuesta que no cumple su esquema para {tickers}: no se usa.",
        "en": "{tool} twice gave an answer for {tickers} that does not fit its schema: it is not used.",
    },
    "call_failed": {
        "es": "{tool} no ha podido responder sobre {tickers}: {reason}.",
        "en": "{tool} could not answer about {tickers}: {reason}.",
    },
    "ticker_failed": {
        "es": "{ticker}: sin datos de {tool} ({reason}): {error}",
        "en": "{ticker}: no figures from {tool} ({reason}): {error}",
    },
    "no_answer": {
        "es": "{ticker}: {tool} no ha dado respuesta.",
        "en": "{ticker}: {tool} gave no answer.",
    },
    "out_of_time": {
        "es": "El análisis se ha quedado sin tiempo: falta lo que no se llegó a consultar.",
        "en": "The analysis ran out of time: what had not been looked up by then is missing.",
    },
    "sample": {
        "es": "Los precios son datos históricos de muestra (source: sample) hasta el {date}, no el mercado de hoy.",
        "en": "Prices are recorded sample data (source: sample) up to {date}, not today's market.",
    },
    "own_currency": {
        "es": "La cantidad en {asked} se ha contado como {counted}: no se aplica ningún tipo de cambio.",
        "en": "The amount in {asked} was counted as {counted}: no exchange rate is applied.",
    },
    "price_return": {
        "es": "Las rentabilidades son variaciones del precio ajustadas por splits, sin dividendos.",
        "en": "Returns are changes of the split-adjusted price, dividends not counted.",
    },
    "no_forecast": {
        "es": "La pregunta mira al futuro: las cifras dicen lo que ha pasado y aquí no se hacen previsiones.",
        "en": "The question is about the future: the figures say what has happened, and no forecast is made here.",
    },
    "beyond": {
        "es": "La pregunta nombra un periodo que los datos no alcanzan: las cifras llegan como mucho a un año.",
        "en": "The question names a period that the figures do not reach: they go back one year at most.",
    },
    "unknown_figures": {
        "es": "{tickers}: sin dato de {figures}.",
        "en": "{tickers}: no figure for {figures}.",
    },
    "dates_differ": {
        "es": "Las cifras no son todas de la misma fecha ({dates}): la comparación es aproximada.",
        "en": "The figures are not all of the same date ({dates}): the comparison is approximate.",
    },
    "currencies_differ": {
        "es": "Los precios están en monedas distintas ({currencies}) y no se han convertido.",
        "en": "Prices are in different currencies ({currencies}) and were not converted.",
    },
    "expected_dates": {
        "es": "Las fechas de resultados de {tickers} son las que esperan los calendarios; nadie las ha confirmado.",
        "en": "The earnings dates of {tickers} are what calendars expect; the companies have not confirmed them.",
    },
    "short_history": {
        "es": "{ticker}: solo hay {bars} sesiones de historia (desde el {date}): su volatilidad y sus caídas son de "
        "ese "
        "tramo, no de un año.",
        "en": "{ticker}: there are only {bars} sessions of history (since {date}): its volatility and drawdowns are "
        "over "
        "those, not over a year.",
    },
    "thin_earnings": {
        "es": "{ticker}: su PER es muy alto porque el beneficio fue casi nulo: dice poco sobre su valoración.",
        "en": "{ticker}: its P/E is very high because earnings were close to nothing: it says little about its value.",
    },
    "summary_unsupported": {
        "es": "El resumen del modelo contenía cifras o afirmaciones que ninguna herramienta dio: se ha descartado y el "
        "resumen está redactado por regla.",
        "en": "The model's summary held figures or claims that no tool gave: it was dropped, and the summary is "
        "worded by "
        "rule.",
    },
    "sentences_dropped": {
        "es": "Frases del resumen del modelo que ninguna herramienta respalda, quitadas o acortadas: {count}.",
        "en": "Sentences of the model's summary that no tool backs, left out or shortened: {count}.",
    },
    "summary_away": {
        "es": "El modelo no ha podido redactar el resumen: está redactado por regla.",
        "en": "The model could not word the summary: it is worded by rule.",
    },
}
_REASONS: dict[str, dict[Language, str]] = {
    "none": {"es": "no hay ninguno configurado", "en": "none is configured"},
    "budget": {"es": "el presupuesto de tokens está gastado", "en": "the token budget is spent"},
    "time": {"es": "no quedaba tiempo", "en": "no time was left"},
    "away": {"es": "no está disponible", "en": "it is not available"},
}


_WHY: dict[str, dict[Language, str]] = {
    "no_figure": {"es": "la fuente no tiene ese dato", "en": "the source has no such figure"},
    "no_tool": {
        "es": "la herramienta que lo da no está disponible con este plan",
        "en": "the tool that gives it is not available on this plan",
    },
    "budget": {
        "es": "el presupuesto de consultas no llega",
        "en": "the budget of calls does not reach that far",
    },
    "now_only": {
        "es": "solo se conoce el dato más reciente, no el de esas fechas",
        "en": "only the newest figure is known, not that of those days",
    },
    "unread": {
        "es": "sin modelo, ninguna regla lee esas palabras",
        "en": "without a model no rule reads these words",
    },
}


def plain_reason(key: str, language: Language) -> str:
    """Why something that was asked for is not answered."""
    return _WHY[key][language]


def reason_of(failure: str | None, language: Language) -> str:
    """Why there is no model reply."""
    return _REASONS.get(failure or "", _REASONS["away"])[language]


def note(key: str, language: Language, **parts: object) -> str:
    """A limitation, or another remark, in a sentence."""
    return _NOTES[key][language].format(**parts)


def plain_summary(key: str, language: Language, **parts: object) -> str:
    """The summary of an answer that has no figures."""
    return _SUMMARIES[key][language].format(**parts)
