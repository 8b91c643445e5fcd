"""Whether a statement says that something has ended, is different now, or holds only for a while or in part.

All patterns match normalized text, except for `has_happened`, which needs the accents.
"""

import re
from functools import lru_cache

from contracts.calendar_names import MONTHS
from memory.domain.long_term.ending_verbs import ENDS
from memory.domain.long_term.slots import WEEKDAYS

_MONTHS = "|".join(MONTHS)
NO_LONGER = re.compile(
    r"\b(?:no longer|any ?more|any longer|no more|is over|is dead|are over|am done|used to|instead|"
    r"behind me|in the past|history|"
    rf"since (?:yesterday|today|last|this|{_MONTHS})|desde (?:ayer|hoy|{_MONTHS})|"
    r"now|nowadays|these days|again|otra vez|de nuevo|from (?:now|here) on|as of|lately|ya no|jamas|"
    r"antes (?!de\b|que\b)|solia|en vez|en lugar|atras|sin \w+[aei]r|ahora|actualmente|ultimamente|ya (?:va|van|voy|"
    r"vamos|es|son|soy|somos|esta|estan|estoy|estamos|tengo|tiene|fue)|se acab\w+|adios|"
    r"a partir de|desde ahora|ya (?:casi )?ni|de (?:ahora|aca|aqui) en (?:mas|adelante))\b"
)
"""Says that something is no longer so, or is different now."""
_ENDED = re.compile(
    r"\b(?:stopped|quits?|g[ai]ve up|given up|giving up|ended|finished|(?<!years )(?<!months )left|resigned|sold|"
    r"closed|cancel\w*|paid off|wiped out|broke|split|died|passed away|goodbye|moved|relocated|switched|swapped|"
    r"exchanged|gave away|(?:gave|given) (?:\w+ ){1,3}(?:up|away)|(?:runs?|ran) out(?! of)|expired|cleared|desist\w+|"
    r"pulled (?:\w+ ){0,4}out|took out|took (?:me|us) off|withdrew|changed|replaced|"
    r"traded (?:\w+ ){0,3}in|scrapped|scrapyard|turned|became|become|grew|went from|lost (?:my|our|me|us|the|it|her|"
    r"him|interest|touch)|fired|laid off|retired|dumped|ditched|offloaded|graduated|stolen|leaving|quitting|giving up|"
    r"divorced|separated|dropped|got rid|abandoned|let (?:\w+ ){0,4}(?:go|lapse|expire)|got out of|am out of|"
    r"dej[eo]\w*|dejado|dejamos|roba(?:ron|do)|pare|solte|abandon\w+|renunci\w+|vend(?:i|imos|ido)|cerre|cerramos|"
    r"cancel\w+|termin\w+|acabe|acabamos|liquid\w+|sald\w+|romp\w+|cort[eo] con|muri\w+|falleci\w+|cambi\w+|pas[eo]|"
    r"pasamos|pasado|mud[eo]\w*|mudamos|traslad\w+|despid\w+|despedid\w+|perdi|perdimos|perdido|jubil\w+|gradu\w+|"
    r"divorci\w+|separ\w+|saque|sacamos|retire|retiramos|independic\w+|di de baja|desguace|sustitui\w*|reemplac\w+|"
    r"regal[eo]|cumpl\w+)\b"
)
"""Names the event by which something ended."""
_INTENDED = re.compile(
    r"(?<!\bhad )(?<!\bdecided )(?<!\bmanaged )(?<!\bgot )(?<!\bhave )(?<!\bused )\bto (?!me\b)[a-z]+|\b(?:would|might|"
    r"may|could|should|will|shall)(?: (?:not|also|just|probably|never|soon))* \w+|\b(?:thinking (?:of|about)|"
    r"considering|tempted|planning on|talking about) \w+|\b(?:if|si|in case|en caso de) [^,.;:]+|\b(?:when|once|cuando|"
    r"en cuanto) [^,.;:]*?\b(?:will|ll|voy a|vamos a|me voy|nos vamos)\b|\bquiere[ns]? que \w+"
)
"""Something only considered, wished or planned, which has ended nothing."""
_INFINITIVE = re.compile(r"[aei]r(?:me|nos|se|l[aeo]s?)?$")
_CARRIED_OUT = re.compile(r"\b(?:acab\w+ de|tuv\w+ que|decid\w+|logr\w+|sin) $")
"""Before an infinitive: the action was carried out."""
FOR_NOW = re.compile(
    r"(?<!\bfrom )(?<!\bof )(?<!\bsince )(?<!\bstarting )(?<!\bdesde )(?<!\bde )\b(?:today|tonight|this (?:morning|"
    r"afternoon|evening|week|weekend|month)|for (?:a|one|two|three) (?:few |\w+ )?(?:days?|weeks?|months?|while|bit|"
    r"moment|nights?|weekend)|right now|at the moment|hoy|esta (?:manana|tarde|noche|semana)|este (?:finde|"
    r"fin de semana|mes)|ahorita|por unos dias|una semanita|unos dias|de momento)\b"
)
"""Says that something holds for a short while."""
LASTING = re.compile(
    r"\b(?:nowadays|these days|lately|from (?:now|here) on|ultimamente|hoy en dia|a partir de|"
    r"de (?:ahora|aqui) en adelante)\b"
)
"""Says that something holds from now on, whatever time it names beside: "these days I hold for three months"."""
PARTLY = re.compile(
    r"\b(?:sold|sell|selling|vend\w+|closed|gave away) (?:off )?(?:some|a few|several|un[oa]s|algun[oa]s)\b|"
    r"\b(?:half|some|part|a few|a couple|one|two|three) of (?:my|our|the)\b|\bhalf (?:my|our|the)\b|"
    r"\b(?:la mitad|una parte|algun[oa]s|un par) de (?:mis?|l[ao]s?|el|nuestr[oa]s?)\b"
)
"""Says that there is less of something, but that it is not over."""
HAS_HAPPENED = re.compile(
    r"\b(?:have|has|\w+'ve|\w+'s) (?!(?:an?|any|no|some|much|many|enough|the|my)\b)"
    r"(?:\w+ )?\w{3,}(?:ed|en|ne|t|ght|ung|ade)\b|(?:(?:^|,)\W*|\b(?:i|"
    r"we|he|she|they|it|and|that) (?:(?!(?:am|are|is|was)\b)\w+ )?)(?:\w{3,}ed|cut|hung|let|shut|had to)\b|"
    r"(?<!'ve )(?<!have )(?<!has )got\b|\b(?:sent|threw|took|gave|lost|sold|went|made|began|came|chose|tore|broke|said|"
    r"fell|grew|outgrew|became)\b|\b(?:\w{3,}ed|took|got|gave|made|let|put|sent|cut) (?:me|us)\b|\b(?:he|hemos|ha|"
    r"han) (?:\w+ )?\w+(?:[ai]do|to|cho)\b|\b(?!(?:así|aquí|ahí|allí|sí|qué|porqué|café|té)\b)\w{2,}[éíó]\b|\b(?:vine|"
    r"vino|vinimos|fui|fue|fuimos|fueron|hizo|dijo|dio|puso|tuvo|hice|hicimos|puse|pusimos|tuve|tuvimos|traje|"
    r"\w{3,}aron|"
    r"\w{3,}ieron|nos \w{3,}[ai]mos)\b"
)
"""Says by the tense of its verb that something has happened."""
_ACQUIRED = re.compile(
    r"\b(?:opened|bought|adopted|added|signed up|abrí|abrimos|compré|compramos|adopté|adoptamos|"
    r"(?:abierto|comprado|adoptado))\b"
)
"""Something acquired in addition, which by itself replaces nothing."""


_NOW = re.compile(
    r"\b(?:ya (?:soy|estoy|\w{2,}[^sn\W]o)|now|nowadays|from now on|no longer|instead|lately|moved|relocated|"
    r"switched|changed|mudad[oa]|trasladad[oa]|new|ahora|a partir de|desde ahora|de ahora en adelante|ultimamente|"
    r"mud(?:e|amos|ar|ado)|traslade|trasladamos|cambie|pase|me quedan?|only have|have only|animado (?:con|a)|"
    r"come (?:a)?round|warmed (?:up )?to|chang(?:ed?|ing) (?:my|our|his|her|their|of) (?:minds?|plans?|heart)|"
    r"cambio de planes?|cambiado de (?:idea|opinion)|nuev[oa]|actualmente|"
    r"currently|got|just|acabo de|started|begun|began|empece|empezado|comence|joined|mejor|better|actually|en realidad|"
    r"(?:have|has) gone|(?:made|named|appointed) me|me (?:ha|han) (?:hecho|nombrado)|in fact|turns out|after all|"
    r"resulta que|turned|"
    r"became|become|again|back (?:to|on|in)|vuelto a|volvi a|volver a|otra vez|de nuevo|"
    r"ya (?:va|van|estudia|estudian)|me he vuelto|me volvi|from here on|ascendido|promoted|hecho fij[oa]|al final|"
    r"finally|in the end|por fin|on second thoughts?|pensandolo mejor|decided|decidido|"
    r"(?:they|have|has) (?:\w+ )?put (?:me|us)|me han (?:puesto|pasado|reducido|ampliado)|make (?:that|it) (?=\d)|"
    r"(?:que sean|mejor) (?=\d)|ya puedes|you can (?:now|start)|cumpli|"
    r"me case|me divorcie|me separe|will be|is going to be|va a ser|pasa(?:ra)? a ser|as of|"
    rf"since (?:yesterday|last|this|{WEEKDAYS})|desde (?:ayer|(?:el|este) (?:{WEEKDAYS}))|"
    r"(?:cog|pill|tom)(?:iendo|ando|ido|ado) (?:el )?gusto|(?:empezando|starting|beginning) (?:a|to)|growing on|"
    r"starting (?:in|from|on|next)|from next|correction|i meant|meant to say|i was wrong|my mistake|scratch that|"
    r"i said|(?:hired|poached|recruited|headhunted) by|(?:fichado|contratado|reclutado)|quise decir|"
    r"me (?:he )?equivo(?:que|cado)|corrijo|correccion|rectifico|dije)\b"
)


def says_change(normalized: str) -> bool:
    """Whether a normalized text says that something is different from before."""
    return bool(_NOW.search(normalized))


@lru_cache(maxsize=4_000)
def has_ended(normalized: str) -> bool:
    """Whether a normalized text names an end that has come and is not only considered."""
    without_intentions = _INTENDED.sub(" ", normalized)
    if ENDS.search(without_intentions):
        return True
    return any(
        not _INFINITIVE.search(match[0]) or _CARRIED_OUT.search(without_intentions[: match.start()])
        for match in _ENDED.finditer(without_intentions)
    )


def has_happened(text: str) -> bool:
    """Whether the tense of a text's verbs says that something has happened, other than an acquisition."""
    lowered = text.lower()
    return bool(HAS_HAPPENED.search(lowered)) and not _ACQUIRED.search(lowered)
