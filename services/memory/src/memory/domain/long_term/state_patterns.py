"""Patterns of how people say what they are: married, vegan, unemployed, on night shifts. For normalized text, in
Spanish and English."""

import re

OCCUPATION = (
    r"\w*(?:[eo]r|ist|ian|ant|man|men|woman|women|ess|eon|nurse|cook|judge|monk|nun|soldad[oa]|abogad[oa]|[eo]r[oa]|"
    r"ista|ante|og[oa]|estr[oa]|medic[oa]|monj[ea]|cura|rina)(?:e?s)?"
)
"""A word for what somebody is or does for a living, by its ending."""
SINGLE = re.compile(r"\b(?:i am|estoy|soy|sigo) (?:now |ahora )?(?:single|solter[oa])\b")
DATING = re.compile(
    r"\b(?:i have|i have got|i got|tengo|me he echado) (?:an? |una? )?(?:new |nuev[oa] )?"
    r"(?:girlfriend|boyfriend|novi[oa])\b"
    r"|\b(?:i am|we are|estoy) (?:now )?(?:dating|seeing someone|saliendo con)\b|\bsalgo con (?:una?|alguien)\b"
)
MARITAL = (
    ("single", SINGLE.pattern),
    ("engaged", r"\b(?:i am|we are|i got|estoy|me he|me) (?:now |ahora )?(?:engaged|prometid[oa]|"
     r"comprometi(?:do|da)?)\b"),
    ("married", r"\b(?:i am|we are|i|we|been|estoy|soy|llevo [^,.]{0,20}) ?(?:now |ahora |just |got "
     r")*(?:married|casad[oa])\b"),
    ("married", r"\b(?:me case|nos casamos|me he casado|nos hemos casado)\b"),
    ("engaged", r"\b(?:i am|we are) getting married\b|\bme caso\b"),
    ("divorced", r"\b(?:i am|we are|i|we|estoy|soy) ?(?:now |ahora |just |got )*(?:divorced|separated|"
     r"divorciad[oa]|separad[oa])\b"),
    ("divorced", r"\b(?:acabo|acabamos) de (?:divorciar(?:me|nos)?|separar(?:me|nos)?)\b"),
    ("divorced", r"\b(?:me divorcie|nos divorciamos|me separe|nos separamos|"
     r"(?:me he|nos hemos) (?:divorciado|separado)|got (?:a )?divorce)\b"),
    ("widowed", r"\b(?:i am|estoy|soy|enviude|quede) ?(?:an? )?(?:now |ahora )?(?:widow(?:ed|er)?|viud[oa])\b"),
)  # fmt: skip
DIET = re.compile(
    r"\b(?:i am|soy|we are|somos|(?:i|we) (?:went|turned|became)|me (?:hice|he hecho|volvi|he vuelto))(?: now| ahora)? "
    r"(?:an? |una? )?(?P<value>vegan[oa]?|vegetarian[oa]?|pescatarian[oa]?|"
    r"pescetarian[oa]?|carnivor[eo]|omnivore|omnivor[oa])\b"
)
EATS_MEAT = re.compile(
    r"\b(?:i|we) (?:am |are )?(?:\w+ )?eat(?:ing)? (?:\w+ )?meat\b|\b(?:como|comemos|comer|comiendo) (?:\w+ )?carne\b"
)
A_DIET = re.compile(
    r"\b(?:(?P<value>keto|paleo|vegan|vegetarian|mediterranean|carnivore|low[- ]carb|low[- ]fat) diet|"
    r"dieta (?P<valor>keto|cetogenica|paleo|vegana|vegetariana|mediterranea|carnivora))\b"
)
_TURN = r"\b(?:turno|horario|trabaj\w+|puesto|pasado)(?: es| ahora)? (?:de|a)(?: las?)? "
KINDS = tuple(
    (attribute, value, re.compile(pattern))
    for attribute, value, pattern in (
        ("shift", "night", r"\b(?:i|we) work nights\b|\bon nights\b|\bnight shifts?\b|" + _TURN + r"noches?\b"),
        (
            "shift",
            "day",
            r"\b(?:i|we) work days\b|\b(?:me|am) on days\b|\bday shifts?\b|" + _TURN + r"(?:dia|mananas?)\b",
        ),
        ("shift", "evening", r"\b(?:evening|late) shifts?\b|" + _TURN + r"tardes?\b"),
        (
            "workplace",
            "home",
            r"\b(?:work\w*|trabaj\w+) (?:\w+ ){0,2}?(?:from home|remotely|desde casa|en remoto)\b|\bteletrabajo\b",
        ),
        (
            "workplace",
            "office",
            r"\b(?:back|return\w*|volver|vuelt[oa]|vuelvo|volvemos|work|trabajo) (?:\w+ )?(?:to|at|in|a|en) "
            r"(?:the |la )?(?:office|oficina)\b",
        ),
        (
            "hours",
            "part time",
            r"\bpart[ -]time\b|\bmedia jornada\b|\bjornada (?:a media|reducida|parcial)\b|\btiempo parcial\b",
        ),
        ("hours", "full time", r"\bfull[ -]time\b|\bjornada completa\b|\btiempo completo\b"),
        (
            "contract",
            "temporary",
            r"\b(?:temporary|fixed-term) (?:contract|job|position)\b|"
            r"\b(?:contrato|trabajo|puesto) (?:temporal|por obra)\b",
        ),
        (
            "contract",
            "permanent",
            r"\b(?:permanent|open-ended) (?:contract|job|position)\b|\bmade (?:me )?permanent\b|"
            r"\bcontrato (?:indefinido|fijo)\b|\b(?:hecho|soy|estoy) (?:ya )?(?:fij[oa]|indefinid[oa])\b",
        ),
    )
)
"""Attribute, value and pattern, for attributes that have few values."""
UNEMPLOYED = re.compile(
    r"\b(?:i am|estoy) (?:\w+ )?(?:unemployed|jobless|out of work|en (?:el )?paro|desemplead[oa]|"
    r"sin trabajo|sin empleo)\b"
)
EMPLOYED = re.compile(
    r"\b(?:got|found|landed|started|have) (?:an? |the )?(?:new )?job\b|\b(?:they hired me|(?:got|was) hired)\b|"
    r"\bme (?:han )?(?:cogido|cogieron|contratado|contrataron|fichado|ficharon)\b|\b(?:encontre|consegui|empece|tengo|"
    r"he encontrado) (?:un )?(?:nuevo )?(?:trabajo|empleo)\b|\bi (?:now )?work (?:at|for)\b|\bemp(?:ece|"
    r"iezo) (?:a trabajar )?(?:\w+ )?en\b|"
    r"\bi (?:will )?start(?:ed)?(?: work(?:ing)?)? (?:at|with)\b|\b(?:ya|ahora) trabajo (?:en|para)\b"
)
SCHOOLS = tuple(
    (stage, re.compile(rf"\b(?:{words})\b"))
    for stage, words in (
        ("nursery", r"nursery|kindergarten|preschool|guarderia|kinder|infantil|jardin de infancia"),
        ("primary", r"primary(?: school)?|elementary(?: school)?|grade school|primaria|colegio"),
        ("secondary", r"secondary(?: school)?|high school|middle school|secundaria|instituto|bachillerato"),
        ("upper secondary", r"prepa(?:ratoria)?"),
        ("university", r"university|college|uni|universidad|facultad|carrera"),
    )
)
"""Stages of education in order, each with its pattern."""
