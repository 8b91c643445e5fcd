"""Patterns over a whole folded sentence: its tone, quotations, causes ("because of"), suppositions ("if it fell") and
offers."""

import re

from contracts.calendar_names import NUMBERS
from contracts.expressions import expression

_EXTREME = r"(?:en )?(?:over(?:bought|sold)|sobre(?:compra|ven)\w*)"
NEUTRAL_RSI = expression(
    r"\b(?:in )?(?:neutral (?:zone|territory)|(?:en )?zona neutral)\b|"
    rf"\b(?:no (?:esta|se encuentra) )?(?:neither|ni) {_EXTREME} (?:nor|ni) {_EXTREME}\b"
)
"""Says that an RSI is between the usual 30 and 70."""
OVERBOUGHT_OR_OVERSOLD = expression(
    r"\b(?:(?P<over>overbought|sobrecompra(?:d[oa]s?)?)|oversold|sobreven(?:ta|did[oa]s?))\b"
)
MACD_SIDE = expression(
    r"\bmacd\b[^.;,]{0,60}?\b(?:(?P<up>above|over|(?:por )?encima)|below|under|beneath|(?:por )?debajo|bajo)\b"
    r"[^.;,\d]{0,20}\b(?:signal|senal)\b"
)
"""Places the MACD above or below its signal."""
TONE = expression(
    r"\b(?:(?P<up>bullish|alcista)|bearish|bajista)\b[^.;]{0,20}\b(?:signals?|prediction|senal(?:es)?|prediccion)\b|"
    r"\b(?:model|prediction|signals?|modelo|prediccion|senal(?:es)?)\b[^.;]{0,30}\b(?:(?P<up2>bullish|alcista)|bearish|"
    r"bajista)\b"
)
NEGATION_OR_CONDITION = expression(r"\b(?:not|no|neither|nor|without|if|ni|sin|si)\b|n't\b")
QUOTE = expression(r"[\"“«]([^\"“”«»]{12,})[\"”»]")
QUOTED_FROM = expression(r"[\"”»] ?\(([^()\d]+)\)")
STATE_EXCLUDED = expression(
    r"\b(?:not|neither|nor|no|ni|near|close to|approach\w+|cerca|lejos|far from|if|above|below|over|under|si|when|"
    r"cuando|usually|suele\w*|considera\w*|considered|means?|signals?|indica\w*|would|levels?|niveles)\b|n't\b|\?"
)
MULTIPLE_REASON = expression(
    r"^(?:a number in words|a (?:difference or a )?multiple|words that .*: (?:half|third|quarter|fifth|mitad|tercio|"
    r"cuarto|quinta|parte|multiplica\w*|times|veces)$|a comparison that cannot be read: (?:more|less|mas|menos)$)"
)
"""Reasons that no longer apply if the multiple is right."""
EVERY_YEAR = expression(
    r"\b(?:both|either|each|every) (?:of the (?:two )?)?(?:years?|periods?|stretch(?:es)?)\b"
    r"|\b(?:l[oa]s dos|ambos|cada|(?:ninguno|cada uno) de los dos) (?:anos?|periodos?|tramos?)\b"
)
CAUSE = expression(
    r"\b(?:because|due to|thanks to|owing to|driven by|amid|in the wake of|on (?:strong|weak|robust|solid|better|"
    r"worse)|reflect(?:s|ed|ing)?|weigh(?:s|ed|ing)? on|lifted|boosted|refleja\w*|explica\w*|impulso|lastr\w+|por "
    r"(?:la|el|las|los) (?:\w+ )?(?:demanda|caida|subida|auge|debilidad|fortaleza)|entre (?:dudas|temores)|as a "
    r"result of|on the back of|porque|debido a|gracias a|a causa de|(?<=, )as (?!of\b|an?\b|the (?:figures?|data)\b|"
    r"well\b|it\b)|por culpa de|impulsad[oa]s? por|tras \w+|after (?!a\b|\d)\w+|\w+ed by"
    r"(?! (?:(?:just|only|about|around|some|roughly|nearly|almost|over|under|more|less|than|an?|little|bit|well|close|"
    r"to) )*(?:[$€]?\d|half|third|quarter|percent)))\b"
)
COUNT_OF_TICKERS = expression(
    rf"\b(?P<n>{'|'.join(NUMBERS)}) (?:of (?:the|these|those|them)|de (?:l[ao]s|est[ao]s|ell[ao]s))\b"
)
"""Counts the tickers that did something."""
UPCOMING = expression(
    r"\b(?:next|due|upcoming|expected|scheduled|proxim[oa]s?|previst[oa]s?|se esperan?|presentara\w*)\b"
)
"""Announces something in the future."""
STRONG_MOVE = expression(
    r"\b(?:plummet|crater|collaps|crash|plung|tumbl|soar|rocket|surg|skyrocket|leap|hund|desplom|dispar)\w*\b"
)
"""Large moves."""
SAME_YEAR = expression(
    r"\b(?:in |over |during )?(?:that|the same) year\b|\b(?:en )?(?:ese|aquel|el mismo) a[nñ]o\b", re.I
)
SUPPOSED = expression(
    r"\b(?:if|when(?:ever)?|until|once|unless|in case|say|suppos\w+|assum\w+|would|could|alert|stop|target|order|limit|"
    r"si|cuando|hasta que|en caso|supon\w+|ponga\w*|aviso|alerta|objetivo|orden|limite|\w{2,}(?:[aei]|[nl]d|b)ria[ns]?|"
    r"seria[ns]?)\b"
)
"""Hypothetical: what may be, or what somebody wants."""
UNNAMED_STOCK = expression(r"\b(?:the (?:stock|shares?|price)|l?as? accion(?:es)?|el (?:precio|valor))\b")
WILL_TELL = expression(
    r"\b(?:i|we)(?:'ll| will) (?:let|tell|notify|warn|ping|alert|send|keep|watch|message)\b|\b(?:te|le|os) "
    r"(?:avis|dir|notific|mandar|enviar)\w+"
)
"""What the assistant promises to do."""
OFFER = expression(
    r"\?\s*$|^\W*(?:let me know|would you|do you|if you|you can|i can|shall i|feel free|want me|avisame|dime|quieres|"
    r"si quieres|puedes|puedo|te gustaria|deseas|necesitas)\b"
)
