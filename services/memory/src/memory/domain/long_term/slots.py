"""Attributes that have one value, by the words that name them."""

SLOTS = {
    (
        "length",
        "short",
    ): "short shorter brief concise corta cortas corto cortos breve breves concisa concisas conciso grano",
    (
        "length",
        "long",
    ): "long longer detailed larga largas largo largos extensas extensa detail details detalle detalles "
    "detalladas detallada detallado",
    ("tone", "formal"): "formal usted",
    ("tone", "informal"): "informal casual tuteo tuteame tutees",
    ("answers in", "es"): "spanish espanol castellano",
    ("answers in", "en"): "english ingles",
    ("profile", "conservative"): "conservative conservador conservadora",
    ("profile", "moderate"): "moderate moderado moderada",
    ("profile", "aggressive"): "aggressive agresivo agresiva",
    ("instrument", "stocks"): "stock stocks acciones",
    ("instrument", "etfs"): "etf etfs",
    ("instrument", "options"): "option options opciones",
    ("instrument", "futures"): "future futures futuros",
    ("instrument", "forex"): "forex divisas",
    ("instrument", "crypto"): "crypto cryptos cripto criptos criptomonedas",
    ("instrument", "bonds"): "bond bonds bonos",
    ("instrument", "funds"): "fondos funds",
    ("timeframe", "day"): "daily diario diaria 1d",
    ("timeframe", "week"): "weekly semanal",
    ("timeframe", "hour"): "hourly horario 1h 4h",
    ("timeframe", "intraday"): "intraday 15m",
    ("timeframe", "month"): "monthly mensual",
    ("order", "market"): "market mercado",
    ("order", "limit"): "limit limite limitada limitadas",
    ("analysis", "technical"): "technical tecnico tecnica",
    ("analysis", "fundamental"): "fundamental fundamentales",
}
SLOT = {word: slot for slot, listed in SLOTS.items() for word in listed.split()}
