"""The verbs by which things end, each with the kind of statement that it can end, and how a sentence tells it."""

import re
from collections.abc import Iterator

from memory.domain.long_term.concepts import concepts_of


def concept_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


LASTING_ACTS = concept_set("buy sell")
"""A purchase or a sale stays true for ever, but a wish to buy or sell does not."""
WANTED = concept_set("goal want plan like prefer save look")
WHAT = r"(?P<what>[^.,;:!?\n]{1,60})"
MINE = r"(?:my|our|the|mis?|nuestr[oa]s?|el|la|los|las)"
ALL_MY = (
    rf"(?:(?:all|both|the rest|most)(?: of)? (?:(?:{MINE}|those|these) )?|{MINE} (?:(?:two|three|dos|tres) )?|"
    r"(?:tod[oa]s?|amb[oa]s) (?:(?:mis?|las?|los|el) )?)"
)
THING = r"(?P<what>[^.,;:!?\n]{1,40}?)"
_PARTICLES = (" up", " off", " away", " in", " back", " out")
WHO = (
    r"(?:\b(?:i|we|s?he|they|(?:my|our) \w+)(?: have| has| had)? ?|(?:^|[,;:.] ))"
    r"(?:(?:just|already|finally|recently) ){0,3}"
)
"""The subject, or none if a clause begins with the verb: "dumped my Disney"."""
_PRONOUN_ES = r"(?:(?:me|nos|se) )?"
WORK = concept_set("work")
LOOK = concept_set("look")
_ACCOUNT = concept_set("use trade bank broker have account trip save invest")
OWNED = concept_set("have drive live use be phone invest")
SERVICES = concept_set("use broker bank trade phone plan")
_COUPLE = concepts_of(
    "have be dating salgo saliendo novia novio pareja esposa esposo marido wife husband married engaged "
    "casado together juntos"
)
_ENDING_VERBS: tuple[tuple[frozenset[str], str, str], ...] = (
    # Concepts of the statements that can be ended; English past forms; Spanish infinitives, without reflexive pronouns.
    (
        frozenset(),
        "stopped|quit|gave up|given up|ended|dropped|dropped out of|got rid of|gotten rid of|pulled out of|"
        "opted out of|"
        "backed out of|withdrew from|withdrawn from|unsubscribed from|parted with|moved on from|moved out of|"
        "gone off|went off|grown out of|lost interest in|abandoned|ditched|dumped|scrapped|called off|got over|"
        "gotten over|finished|completed|is done with|am done with|are done with|put an end to|shelved|binned|packed in|"
        "sworn off|swore off|phased out|bailed on|cooled on|soured on|fallen out of love with|fell out of love with|"
        "lost faith in|lost confidence in|lost patience with|tired of|had enough of|outgrown|outgrew|ruled out|"
        "written off|wrote off|pulled the plug on|turned my back on",
        "dejar|dejar de|parar de|abandonar|borrar de|desapuntar de|deshacer de|quitar de encima|dar de baja de|"
        "cansar de|hartar de|desencantar de|descartar|desechar|perder la fe en|perder la confianza en|"
        "aburrir de|desistir de|desentender de|terminar|acabar|superar|concluir|finalizar",
    ),
    (
        concept_set("work study use live trade bank broker account smoke drink be take have part invest"),
        "left|resigned from|walked away from|walked out of|stepped down from|moved away from",
        "ir de|salir de|renunciar a|marchar de|despedir de",
    ),
    (
        OWNED,
        "sold|sold out of|got out of|gave away|given away|offloaded|wrecked|crashed|totalled|traded in|"
        "lost(?! \\w+ savings\\b)(?! \\w+ money\\b)(?! \\w+ job\\b)|rehomed|"
        "donated|auctioned|returned|handed back|sent back|scrapped|smashed up",
        "vender|regalar|donar|devolver|perder|malvender",
    ),
    (_ACCOUNT, "closed|cancelled|canceled|terminated|discontinued|"
     "cashed in|cashed out|cashed out of|emptied|liquidated",
     "cerrar|cancelar|anular|rescindir|traspasar|rescatar|vaciar|dar de baja|liquidar"),
    (concept_set("have owe pay loan mortgage"), "paid off|finished paying|cleared|paid back|"
     "repaid|settled(?! in)(?! down)|settled up with|"
     "am square with|am even with|are square with",
     "terminar de pagar|acabar de pagar|terminar con|acabar con|liquidar|saldar|amortizar"),
    (_COUPLE, "broke up with|broken up with|split up with|split from|divorced", "romper con|cortar con|dejar con"),
)  # fmt: skip
_IRREGULAR = {
    "deshacer": "deshecho|deshice",
    "romper": "roto|rompi|rompimos",
    "devolver": "devuelto|devolvi",
    "ir": "ido|fui|fuimos",
    "dar": "dado|di|dimos",
    "cerrar": "cerrado|cerre|cerramos",
}
SUBJECT_ENDED = (
    "is (?:finally |all |much )?better|died|passed away|healed|recovered|lapsed|expired|run out|ran out|moved out|"
    "broke down|broken down|is gone|"
    "fell through|fallen through|is over|is off(?=[,.;:!?]|$)|closed down|"
    "went bust|is off the table|is out of the question|is "
    "behind (?:me|us)|"
    "is history|(?:ran|run) away|is done(?: and \\w+(?: for)?)?|is paid for"
)
SUBJECT_ENDED_ES = (
    "murio|muerto|fallecio|fallecido|curado|curo|recuperado|caducado|caduco|vencido|vencio|rompio|roto|"
    "estropeo|estropeado|perdio|perdido|acabo|acabaron|acabado|termino|terminaron|terminado|independizado|"
    "escapo|escapado|independizo|emancipado|emancipo|cerrado|cerro|quebrado|quebro"
)


def _past_pattern(infinitives: str) -> str:
    """Returns a pattern of the forms in which Spanish verbs tell what somebody did: participle, and first person
    past."""
    forms: list[str] = []
    for infinitive in sorted(infinitives.split("|"), key=len, reverse=True):
        verb, _, complement = infinitive.partition(" ")
        root = verb[:-2]
        soft = re.sub(r"z$", "c", re.sub(r"g$", "gu", re.sub(r"c$", "qu", root)))
        regular = f"{root}ado|{soft}e|{root}amos" if verb.endswith("ar") else f"{root}ido|{root}i|{root}imos"
        after = re.sub(r"\bde$", "(?:de|del)", re.sub(r"\ba$", "(?:al?)", complement))
        object_only = "(?! (?:de|del|que|por|en|a|al|con|como|sin)\\b)"
        forms.append(f"(?:{_IRREGULAR.get(verb, regular)}){' ' + after if after else object_only}")
    return "|".join(forms)


def verb_rules() -> Iterator[tuple[str, frozenset[str]]]:
    for among, english, spanish in _ENDING_VERBS:
        past = "|".join(sorted(english.split("|"), key=len, reverse=True))
        yield rf"{WHO}(?:{past}) {ALL_MY}?{WHAT}", among
        yield rf"\b{_PRONOUN_ES}(?:(?:he|hemos|ha|han) )?(?:ya )?(?:{_past_pattern(spanish)}) {ALL_MY}?{WHAT}", among
        yield (
            rf"\b{MINE} (?P<what>\w+(?: \w+){{0,2}}?) (?:ya )?l[ao]s? (?:(?:he|hemos|han) )?(?:ya )?"
            rf"(?:{_past_pattern(spanish)})",
            among,
        )
        # The flat has been sold; el coche está vendido.
        yield rf"\b{MINE} {THING} (?:is|are|was|were|been|got) (?:\w+ly |now |all )?(?:{past})\b", among
        if participles := "|".join(_participles(spanish)):
            yield (
                rf"\b{MINE} {THING} (?:ya )?(?:esta|estan|fue|fueron|quedo|quedaron|se (?:me |nos )?(?:ha|han)) "
                rf"(?:ya )?(?:{participles})[oa]s?\b",
                among,
            )
        # Gave Italian up, paid it all off.
        if separable := [verb.split() for verb in english.split("|") if verb.endswith(_PARTICLES)]:
            apart = "|".join(rf"{verb[0]} {ALL_MY}?(?=(?:\w+ ){{1,4}}?{verb[1]}\b)" for verb in separable)
            yield rf"{WHO}(?:{apart})(?P<what>(?:\w+ ){{1,4}}?)(?:{'|'.join(_PARTICLES).replace(' ', '')})\b", among


def _participles(infinitives: str) -> list[str]:
    """Returns the Spanish participles, without their endings, of the verbs without a preposition."""
    verbs = [verb for verb in infinitives.split("|") if " " not in verb and verb != "ir"]
    return [
        next((form[:-1] for form in _IRREGULAR.get(verb, "").split("|") if form.endswith("o")), "")
        or f"{verb[:-2]}{'ad' if verb.endswith('ar') else 'id'}"
        for verb in verbs
    ]


_TOLD_EN = "|".join(english for _, english, _ in _ENDING_VERBS)
_TOLD_ES = "|".join(_past_pattern(spanish) for *_, spanish in _ENDING_VERBS)
ENDS = re.compile(rf"{WHO}(?:{_TOLD_EN})\b|\b{_PRONOUN_ES}(?:(?:he|hemos) )?(?:ya )?(?:{_TOLD_ES})\b")
"""One of the verbs by which something ends, told as done."""
