"""The names of figures as patterns over folded text, in Spanish and English; longer names come first.

"trailing earnings", "PER" and "price-to-earnings" are all `pe`. Claims and questions use the same names.
"""

from contracts.expressions import expression

_FIGURES: tuple[tuple[str, str], ...] = (
    (
        "max_drawdown",
        r"(?:maximum|max\.?|worst|deepest|largest|biggest|(?:worst )?peak-to-trough) "
        r"(?:drawdown|fall|drop|decline|loss|setback|slide|"
        r"slump|pullback)s?|drawdown maximo|"
        r"caidas? maximas?|maximas? caidas?|retroceso maximo|maximo retroceso|peores caidas|peor caida",
    ),
    (
        "current_drawdown",
        r"current(?:ly)? (?:drawdown|fall)|fallen (?:further |more )?from (?:its|their) (?:peaks?|highs?)|"
        r"caida actual|drawdown actual|(?:from|below|under|off|beneath|shy of|away from|gap to) (?:its|their|"
        r"the) (?:peak|high|top)(?! to\b)|(?:desde|bajo|por debajo de) sus? maximos?",
    ),
    (
        "max_drawdown current_drawdown",
        r"(?:(?<=smaller )|(?<=larger )|(?<=bigger )|(?<=deeper )|(?<=milder ))(?:fall|drop|decline)|"
        r"drawdowns?|desde (?:los )?maximos|(?:from|below|off) (?:its |their )?(?:highs|peaks)|"
        r"caidas? desde (?:el|su|un) maximo|fall from (?:a|its|the) peak",
    ),
    ("volatility", r"volatility|volatilidad(?:es)?|annualised vol|vol\b"),
    (
        "volume_zscore",
        r"standard deviations?|desviacion(?:es)? (?:estandar|tipicas?)|"
        r"volume z-?scores?|z-?scores?(?: of (?:its |the )?volume)?|z del volumen|z(?= ?[-+]?\d)",
    ),
    (
        "average_volume",
        r"(?:average|mean|typical|usual) (?:daily )?(?:trading )?volumes?|average daily (?:turnover|trading)|"
        r"volumen(?:es)? (?:medi|promedi)os?(?: diarios?)?|volumen(?:es)? diarios? (?:medi|promedi)os?",
    ),
    ("average_volume volume", r"chang(?:e[sd]?|ing) hands(?! (?:for|at))|cambia(?:n|ron|ba|ban)? de manos"),
    ("volume window_volume", r"(?:trading )?volumes?|volumen(?:es)?"),
    (
        "pe",
        r"trailing earnings|p/e(?: ratio| multiple)?s?|\bpe(?: ratio)?\b|price[- ]to[- ]earnings(?: ratio)?|"
        r"price/earnings|\bper\b(?! "
        r"(?:share|cent|ticker|day|year|month|week|unit|point|trade|capita|person|transaction)s?\b)|(?:times|"
        r"veces) (?:its |trailing |sus |los |el )?(?:earnings|"
        r"beneficios?)(?! per| por)|ratio precio[- ]beneficio|precio/beneficio|precio entre beneficio|multiplo de "
        r"beneficios",
    ),
    (
        "eps",
        r"(?:earn(?:s|ed)?|ma[dk]es?|gan(?:o|a|aron|an))\b"
        r"(?=[^.;,]{0,20}? ?[\d.,]+[^.;,\d]{0,25}(?:per|an?|por|cada) (?:share|accion))",
    ),
    ("eps", r"eps|earnings per share|beneficios? por accion|bpa"),
    (
        "market_cap",
        r"(?:(?<=\x00 )|by )size|por tamano|capitalizan?|market cap(?:italisation|italization|\.)?|market value|"
        r"capitalizacion(?:es)?(?: bursatil| de mercado)?|valor (?:de mercado|en bolsa|bursatil)",
    ),
    (
        "net_margin gross_margin",
        r"of (?:its|their) (?:revenues?|sales) (?:as|is|was) (?:net )?(?:profit|income)|"
        r"de (?:sus|los) (?:ingresos|ventas) (?:como|es|son|en) (?:\w+ )?beneficios?",
    ),
    ("gross_margin", r"gross margins?|margen(?:es)? brutos?|\bel bruto(?= (?:del? )?\d)"),
    (
        "net_margin",
        r"net (?:profit )?margins?|profit margins?|margen(?:es)? netos?|\bel neto(?= (?:del? )?\d)|\bnet one(?= of)",
    ),
    ("dividend_yield", r"dividend yields?|\byields?|rentabilidad(?:es)? por dividendo"),
    ("revenue", r"(?:annual )?revenues?|\bsales\b|ingresos?|ingresaron|\bventas\b|facturacion"),
    ("beta", r"\bbetas?\b"),
    (
        "up_streak",
        r"(?:seguid|consecutiv)[oa]s (?:al alza|de subidas?)|(?:longest )?winning (?:streak|run)s?|"
        r"rachas? alcistas?(?: mas largas?)?|racha (?:mas larga )?de (?:subidas|alzas)",
    ),
    (
        "down_streak",
        r"(?:seguid|consecutiv)[oa]s (?:a la baja|de (?:bajadas?|caidas?))|(?:longest )?losing (?:streak|run)s?|"
        r"rachas? bajistas?(?: mas largas?)?|racha (?:mas larga )?de (?:bajadas|caidas)",
    ),
    ("up_days", r"(?:up|rising|positive|winning) (?:days|sessions)|(?:dias|sesiones) (?:alcistas|de subidas?|al alza)"),
    ("up_months", r"up months|meses (?:alcistas|al alza|de subidas?)"),
    ("down_months", r"down months|meses (?:bajistas|a la baja|de (?:bajadas?|caidas?))"),
    (
        "down_days",
        r"(?:down|falling|negative|losing) (?:days|sessions)|(?:dias|sesiones) (?:bajistas|de (?:bajadas?|caidas?)|"
        r"a la baja)",
    ),
    (
        "correlation",
        r"correlations? (?:between|of) (?:their|the two|both) (?:[\w-]+ )?(?:returns?|moves?|prices?|stocks?|shares?)|"
        r"correlacion(?:es)? (?:entre|de) (?:sus|las|los) (?:rentabilidades|rendimientos|variaciones|retornos)"
        r"(?: diari[oa]s)?|correlat(?:ion|ions|ed|es)|correlacion(?:es|ada|adas|ado|ados)?|(?:loosely|closely|weakly|"
        r"strongly|hardly) "
        r"(?:related|linked)|mov(?:ed?|ing) (?:together|in step|in tandem)",
    ),
    (
        "next_earnings_date",
        r"(?:next |upcoming )?(?:earnings|results)(?: (?:report|date|release|announcement))?s?(?! per)|"
        r"(?:proximos |siguientes )?resultados|(?:expected|due|scheduled) to report|reports?(?= (?:on )?\x00)|"
        r"publican?(?= el \x00)|(?:first|last|next|due|set) (?:of \w+ )?to report|"
        r"rend\w+ cuentas|rinden? cuentas|(?:presenta|publica|anuncia|presente|publique|anuncie)n? (?:sus |"
        r"las )?(?:cuentas|resultados)",
    ),
    (
        "total_return",
        r"total returns?|rentabilidad(?:es)? total(?:es)?|(?:once|with|including|counting) (?:dividends|"
        r"them\b)(?: (?:are "
        r")?(?:included|counted|reinvested))?|(?:con|contando|incluyendo) (?:los )?dividendos|(?:incluyendo|"
        r"contando)los",
    ),
    (
        "next_dividend_date",
        r"ex-dividend(?: date)?s?|fechas? ex-?dividendo|(?:next |upcoming )dividends?(?: (?:date|payment))?|"
        r"(?:proximo |siguiente )dividendo|dividend(?= (?:is |date |was )?"
        r"(?:due|payable|expected|scheduled|paid on|on \x00))|dividend payment|pago (?:de|del) dividendo",
    ),
    (
        "atr_14",
        r"(?:14[- ](?:day|session) )?(?:atr|average true range|rango verdadero medio)(?: "
        r"?\(?14\)?)?(?: de 14 (?:sesiones|dias))?",
    ),
    ("sentiment score", r"sentiment(?: score)?|sentimiento"),
    ("RSI", r"rsi(?: ?\(?14\)?)?"),
    ("MACD macd", r"macd(?! signal)"),
    ("signal", r"(?:macd )?signal line|(?:its|the) signal|(?:linea de|su) senal"),
    ("VWAP", r"vwap"),
    ("OBV", r"obv"),
    ("ADX", r"adx"),
    ("EMA", r"ema(?: ?\(?\d+\)?)?"),
    (
        "upper",
        r"(?:upper|banda superior)(?: band| bollinger band)?(?! than| \x00| end| part)|(?:la|the) superior(?= \()",
    ),
    ("lower", r"lower (?:bollinger )?band|banda inferior|(?:la inferior|the lower one)(?= \()"),
    ("middle", r"middle (?:bollinger )?(?:band|line)|the middle(?= \()|banda (?:media|central)"),
    (
        "cagr",
        r"cagr|(?:compound )?annual growth(?: rate)?|annualised return|(?:rentabilidad|crecimiento) anualizad[oa]",
    ),
    (
        "growth final",
        r"(?:would (?:now )?(?:be|have|hold)(?: holding)?|is now|are now|serian(?: ahora| hoy)?|habria|son ahora|"
        r"se habrian? (?:convertido|quedado|reducido) (?:en|a)|would have (?:become|(?:grown|shrunk) to)|"
        r"(?:turned )?into|became)(?: worth)?"
        r"(?= (?:(?:some|about|roughly|around|nearly|almost|just|unos|casi|apenas) )?(?:usd |\$)?\d)",
    ),
    (
        "invested",
        r"invest(?:ment|ing|ed)|put in(?:to)?\b|inversion|invertid[oa]s?|invertir|(?:metid|puest)[oa]s? en",
    ),
    *(
        (
            f"{end}_{unit}",
            rf"(?<!did )(?<!fared )(?<!performed ){end} (?:single |calendar )?(?:{en})s?(?! to date)|"
            rf"{una}(?:es)? (?:{es})",
        )
        for unit, en, es in (
            ("day", "day|session", "dias?|sesion(?:es)?|jornadas?"),
            ("week", "week", "semanas?"),
            ("month", "month", "mes(?:es)?"),
            ("quarter", "quarter", "trimestres?"),
            ("year", "year", "anos?"),
        )
        for end, una in (("best", "mejor"), ("worst", "peor"))
    ),
    (
        "high",
        r"peaked|(?<!\bis )(?<!\bwas )(?:52-week |one-year |yearly |year )?high(?!er|est)\b|maximo(?:s)?(?: "
        r"anual| del ano| de 52 semanas)?(?! (?:drawdown|retroceso))",
    ),
    (
        "low",
        r"(?:52-week |one-year |yearly |year )low(?!er|est)\b|minimo(?:s)?(?: anual|"
        r" del ano| de 52 semanas)|period low|\blow of|(?:its|the|their) low\b",
    ),
    ("dividends dividend_yield", r"dividends?|dividendos?"),
    (
        "return",
        r"returns?|returned|returning|performance|rentabilidad(?:es)?|rendimientos?|variacion(?:es)?|"
        r"price change|rindio|rinde|rindieron|rendido|desempeno",
    ),
    (
        "price close",
        r"(?:last |latest |current |closing |share |stock )?prices?|clos(?:es|ed|ing)(?: price)?|(?:is |are "
        r")?trad(?:es|ed|ing) at|quoted at|(?:ultimo |precio de )?precios?|cotiza(?:n|ba|cion)?|cierran?|cerro|"
        r"cerraron|precio de cierre|ultimo cierre|last close",
    ),
    ("price close market_cap", r"vale"),
)
FIGURES: tuple[tuple[tuple[str, ...], str], ...] = tuple((tuple(names.split()), pattern) for names, pattern in _FIGURES)
_FALL_IS = r"(?=[^.;,]{0,40}?\b(?:was|of|is|fue|es|era|del?|:) ?(?:del? |un |of )?\d)"
FIGURE_PHRASES = (
    (("pe",), expression(r"(?<=\d)x (?:trailing )?(?:earnings|beneficios)\b")),
    (("RSI",), expression(r"\b(?:rsi de 14 (?:sesiones|dias|periodos)|14[- ](?:day|session|period) rsi)\b")),
    (
        ("current_drawdown",),
        expression(
            r"\b(?:from|below|under|off|beneath) (?:its|their|the) (?:52-week|12-month|one-year|"
            r"recent) (?:closing )?(?:peak|high)\b|\b(?:desde|bajo|por debajo de) (?:el|sus?) maximos? (?:anual|"
            r"recientes?|del ano|de 52 semanas)\b|(?<=%) ?(?:of|de) (?:its|their|the|sus?|el) (?:52-week |12-month |"
            r"one-year |recent )?(?:(?:peak|high)\b|maximos?\b(?: anual| recientes?| del ano| de 52 semanas)?)"
        ),
    ),
    *((names, expression(rf"\b(?:{pattern})\b")) for names, pattern in FIGURES if names[0][:5] in ("best_", "worst")),
    (
        ("max_drawdown",),
        expression(
            r"\b(?:at (?:its|their) worst(?: point)?|en su peor momento|llego a (?:caer|perder|retroceder|ceder|bajar)|"
            r"(?:fell|dropped|lost|down) (?:by )?as much as)\b|"
            r"\b(?:(?:the|its|la|su) )?(?:biggest|largest|deepest|steepest|mayor) "
            rf"(?:drawdown|fall|drop|decline|setback|slide|slump|pullback|caida|bajada|retroceso)\b{_FALL_IS}"
        ),
    ),
)
"""Phrases in which days, weeks, months and years are no periods; the deepest fall of a period, with its number."""
