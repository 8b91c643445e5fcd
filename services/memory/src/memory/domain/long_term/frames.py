"""Patterns of how a statement names the value of an attribute: where its writer lives, works and banks, and what people
and things are called.

For normalized text without adverbs.
"""

import re

_VALUE = r"(?P<value>(?:[^.,;:!?\n]|[.](?=\S)|,(?=\d)){1,60})"
_FRAMES: tuple[tuple[str, str], ...] = (
    ("home", rf"\b(?:i|we) (?:am |are |have )?(?:live|living|reside|based)(?: back| out| over| up| down)? in {_VALUE}"),
    ("home", rf"\b(?:i|we) (?:am |are |have |\w+(?: \w+){{0,3}} and )?(?:moved|relocated)(?: back)? to {_VALUE}"),
    (
        "home",
        r"\b(?:vivo|vivimos|viviendo|resido|residimos|(?:ido|fui|fuimos|quedado|quede|quedamos) a vivir|me cambie|"
        r"me vine|nos vinimos|"
        rf"(?:me|nos)(?: he| hemos)? (?:mud|traslad|instal)(?:e|ado|amos)|"
        rf"acab(?:o|amos) de (?:mud|traslad|instal)ar\w*|"
        rf"(?:me|nos) acab(?:o|amos) de (?:mud|traslad|instal)ar) (?:en|a) {_VALUE}",
    ),
    ("home", rf"\b(?:moved|relocated|transferred|posted|sent) (?:me|us) (?:over |out |back )?to {_VALUE}"),
    ("home", rf"\b(?:settled|living together|now live|ended up living) (?:down )?in {_VALUE}"),
    ("home", rf"\b(?:me|nos) (?:ha|han) (?:trasladado|destinado|mandado|enviado) a {_VALUE}"),
    ("employer", rf"\bi (?:am |have )?(?:work|working|started working|started) (?:at|for) {_VALUE}"),
    (
        "employer",
        rf"\b(?:empezar|empezado|empece|trabajo nuevo|nuevo trabajo|encontre trabajo|consegui trabajo|he fichado|"
        rf"contratado|contrataron)(?: a trabajar)? (?:en|por|para) {_VALUE}",
    ),
    ("employer", rf"\bi (?:have )?(?:joined|got a (?:new )?job (?:at|with)|found a job (?:at|with)) {_VALUE}"),
    (
        "employer",
        rf"\bme (?:(?:ha|han) (?:contratado|fichado|captado|reclutado|cogido)|contrato|ficho|contrataron|ficharon)"
        rf"(?: (?:en|por|los de|la gente de))? {_VALUE}",
    ),
    ("employer", rf"\b(?:hired|poached|recruited|headhunted|taken on|snapped up) by {_VALUE}"),
    (
        "payday",
        r"\b(?:i (?:now )?get paid|they pay me|(?:my )?(?:employer|company) pays me|cobro|me pagan) (?:\w+ )?"
        r"(?:on |el |hacia )?(?:the |(?:el )?dia )(?P<value>\d{1,2})(?:st|nd|rd|th)?(?= |$|[.,;])",
    ),
    ("home", rf"\b(?:my|our) (?:home|house|flat|apartment|place) is in {_VALUE}"),
    ("home", rf"\b(?:mi|nuestr[oa]) (?:casa|piso|vivienda|apartamento|departamento) esta en {_VALUE}"),
    ("home", rf"\bmoved(?: house)?\b.{{0,20}}\bi am (?:now )?in {_VALUE}"),
    (
        "employer",
        rf"\b(?:trabajo|empece a trabajar|estoy trabajando|empece) (?:en|para) {_VALUE}",
    ),
    (
        "occupation",
        rf"\bi (?:am |have )?(?:work|working|started working|qualified|retrained|been hired|was hired|been promoted)"
        rf" (?:as|to) (?:an? )?{_VALUE}",
    ),
    (
        "occupation",
        rf"\b(?:trabajo|(?:empece|empezado|comenzado) a trabajar|estoy trabajando) (?:como|de(?! (?:noches?|dia|"
        rf"tardes?|mananas?|lunes|lo|la|el|forma|madrugada)\b)) {_VALUE}",
    ),
    (
        "occupation",
        rf"\b(?:made|appointed|named) me (?:an? |the )?"
        rf"(?=(?:\w+ )?(?:head|chief|lead|partner|boss|\w{(3,)}(?:or|ager|ian|ist|ant|yst|eer))\b){_VALUE}",
    ),
    ("occupation", rf"\b(?:gone|went|work\w*|trabajo|trabajando) (?:\w+ ){{1,4}}?(?:as an?|como) {_VALUE}"),
    (
        "occupation",
        rf"\bme (?:ha|han) (?:hecho|nombrado|puesto de) (?!caso\b|falta\b|l[ao]s?\b|una?\b|\w+ oferta|esperar|ilusion|"
        rf"dano){_VALUE}",
    ),
    ("occupation", rf"\b(?:ascendid[oa]|promovid[oa]|contratad[oa]) (?:al?|como|de) {_VALUE}"),
    (
        "age",
        r"\b(?:i am|i turned|i am ) ?(?P<value>\d{1,3})"
        r"(?= years|[.,;!](?!\d)| and|$)",
    ),
    ("age", r"\bi turned (?P<value>\d{1,3}) (?:yesterday|today|last|this|on|in|recently|just|now)\b"),
    ("age", r"\b(?:tengo|cumpli|cumplir) (?:ya )?(?P<value>\d{1,3})(?: anos\b|$)"),
    ("broker", rf"\bi (?:trade|operate|invest) (?:with|through|at) {_VALUE}"),
    ("broker", rf"\b(?:opero|invierto) (?:con|a traves de) {_VALUE}"),
    ("broker", r"\b(?:i use|uso) (?P<value>[^.,;:!?\n]{1,40}) (?:as|como) (?:my |mi )?broker"),
    ("bank", rf"\bi bank (?:with|at) {_VALUE}"),
    ("car", rf"\bi drive (?:an? )?{_VALUE}"),
    ("car", rf"\b(?:conduzco|manejo) (?:una? )?{_VALUE}"),
    ("commute", r"\bi (?P<value>drive|cycle|walk|bike|run|take the \w+) to work\b"),
    (
        "commute",
        r"\bvoy (?:al trabajo )?(?:en|a) (?P<value>coche|carro|bici|bicicleta|moto|metro|bus|autobus|tren|pie)\b",
    ),
    ("study", rf"\b(?:i (?:am )?(?:study|studying)|estudio|estoy estudiando) {_VALUE}"),
    ("my salary", r"\bi am (?:now )?on (?P<value>\d[\d.,]* ?k\b|\d{2,3}[.,]\d{3}\b)"),
    (
        "weight",
        r"\b(?:i weigh|peso|i am (?:now )?(?:down|up) to|he (?:baj|sub|adelgaz|engord)[ai]do a|baje a|subi a) "
        r"(?P<value>\d[\d.,]*)(?= ?(?:kilos?|kgs?|lbs)\b)",
    ),
    ("risk", r"\b(?:i|we)? ?(?:risk|arriesgo|arriesgamos)\b(?P<value>[^.,;:!?\n]{0,40}?\d[\d.,]* ?%?)"),
)
FRAMES = [(attribute, re.compile(pattern)) for attribute, pattern in _FRAMES]
OF_RELATIVES = (
    ("home", re.compile(rf"\b(?:lives?|living|moved|relocated|viven?|mudad[oa]s?|trasladad[oa]s?|mudo|traslado|"
                        rf"(?:fue|fueron|ido) a vivir) (?:into|in with|in|to|with|en|con|al?) {_VALUE}")),
    ("age", re.compile(r"\b(?:is|turned|turns|tiene|cumplio|cumplir|cumplido) (?:(?:now|already|just|ya) )*"
                       r"(?P<value>\d{1,3})\b")),
    ("employer", re.compile(rf"\b(?:works?|working|trabajan?|(?:a )?(?:job|trabajo)) (?:at|for|en|para) {_VALUE}")),
)  # fmt: skip
MY = re.compile(
    r"\b(?P<whose>my|mi|mis|our|nuestr[oa]) (?P<what>\w+(?:'s)?(?: (?:de |del |of |for |para )?\w+(?:'s)?){0,3}?) "
    rf"(?:(?:is|are|es|son|sera|se llama)(?: de| called| named)?|changed to|cambio a|"
    r"ha cambiado a|(?:went (?:up|down)|rose|dropped|fell|increased) to|"
    r"(?:ha )?(?:sub(?:io|ido)|baj(?:o|ado)|aument(?:o|ado)) a|will be|va a ser|is going to be) "
    rf"{_VALUE}"
)
SET = re.compile(
    r"\b(?:raised|lowered|increased|decreased|reduced|cut|set|changed|moved|updated|subi|baje|aumente|reduje|cambie|"
    r"he (?:subido|bajado|aumentado|reducido|cambiado|puesto)|puse|actualice) "
    r"(?P<whose>my|our|the|mi|nuestr[oa]|el|la|de) "
    rf"(?P<what>\w+(?: \w+){{0,2}}?)(?: to| a| en|[:,] (?:it is|is|es)) {_VALUE}"
)
"""A change of an attribute, told by a verb: "I raised my budget to 3000"."""
ROLE = re.compile(
    r"\b(?P<value>(?:(?:mr|mrs|ms|dr|don|dona|sr|sra|senor|senora)\.? )?\w+) (?:is|es|sera|will be|as|como) "
    r"(?:now |ahora )?(?P<whose>my|our|mi|nuestr[oa]) (?:new |nuev[oa] )?(?P<what>\w+)(?= now\b| ahora\b|[.,;!]|$)"
)
"""Who or what has a role: "Mrs Khan is our landlady now", "use ana@example.com as my email"."""
NEW = re.compile(
    r"\b(?P<whose>i|we|tengo|tenemos)(?: have| have got| got)?(?: an?| una?)? (?:new (?P<what>\w+)|(?P<que>\w+) "
    r"nuev[oa])(?: number| numero)?,? "
    rf"(?:it is|es|called|named|his name is|her name is|(?:que )?se llama) {_VALUE}"
)
"""Somebody new in a role: "I have a new boss, her name is Lucy"."""
