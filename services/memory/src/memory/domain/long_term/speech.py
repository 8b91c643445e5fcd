"""What of a text its writer says themselves, and means: no quotation, no pasted text, no question, no joke; of each
sentence no words of somebody else's and nothing that is only imagined.
"""

import re
from bisect import bisect_left, bisect_right
from itertools import pairwise

from memory.domain.long_term.concepts import plain
from memory.domain.recall.words import folded

_QUOTED = re.compile(
    r""""[^"]*"|“[^“”]*”|«[^«»]*»|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w)){8,}'(?!\w)|^[^\S\n]*[>|].*$|```[\s\S]*?(?:```|\Z)|"""
    r"""<(?P<tag>[a-z]\w*)\b[^>\n]*>[\s\S]{0,1000}?</(?P=tag)>|"""
    r"""^(?:---.*(?:forward|original|reenvi).*|(?:from|de): .*@.*)$[\s\S]*""",
    re.M | re.I,
)
"""What is quoted, a table, code, a page's source, a mail; in single quotes what is longer than a word, for they are
apostrophes too."""
_BEFORE_A_COLON = re.compile(r"[^:.!?;\n]{1,120}(?::| >)(?=\s)")
_PARAGRAPH = re.compile(r"\s*(?:(?!\n\s*\n)[\s\S])*")
_OWN_LEAD = re.compile(
    r"\b(?:remember|recuerd[ae]\w*|anota|apunta|acuerdate|ten en cuenta)\b|"
    r"\b(?:about (?:me|us|myself)|sobre mi|de mi|lo mio(?: es \w+)?|in mind|forget|notes?|notas?|olvides|update|"
    r"fyi|btw|ps|pd|hi|hello|hey|hola|buenas|oye|mira|ojo|important|importante|context|contexto|background|"
    r"correction|aclaracion|aviso|reminder|short|clear|honest|way|cierto|know|sepas|truth|verdad|mind|idea|sorry|"
    r"perdon|wait|espera|actually|(?:thing|fact|detail|cosa|dato|detalle)s?|(?:good|big|great|bad) news|"
    r"(?:buena|mala|gran)s? noticias?|(?:my|our|mis?|nuestr[oa]s?) (?:\w+ )?(?:situation|case|plan|goal|aim|rule|"
    r"reason|situacion|caso|objetivo|meta|regla|razon)(?:es|s)?)\W*:$|"
    r"^\W*(?:(?:so|and|but|well|ok|now|also|then|y|pero|pues|bueno|ahora|tambien|ya|yo|te|os|me|nos|no),? )*"
    r"(?:(?:i|we)\b(?! (?:\w+ )?(?:read|saw|heard|got|received|found|quote|copied|was|were)\b)|let me|tengo|"
    r"tenemos|soy|somos|estoy|vivo|quiero|trabajo|gano|invierto|opero|uso|sigo|hago|pago|debo|ahorro|prefiero|voy|"
    r"cuento|explico|hemos|(?:my|our|mis?|nuestr[oa]s?) \w+ (?:is|are|es|son)\b)"
)
"""What somebody says before a colon of themselves, or to have themselves remembered. What follows other words is a
text to work on, or what a page or another person says, up to an empty line: "Reuters: I own a castle"."""
_I_DID = re.compile(r"\W*\w+[éí] [a-zñ]")
"""Cambié de idea."""
_SENTENCE = re.compile(r"(?<=[!?;\n])\s*|(?<=\.)\s+|(?<=[a-záéíóúñ)]\.)(?=[A-ZÁÉÍÓÚÑ¿¡])")
"""A dot ends one before a space or a capital: not in a figure, nor in "ana@example.org"."""
_TITLE = re.compile(r"\b(Dra?|Mrs?|Ms|Prof|Sra?|Srta|St|Sta)\.(?=\s+[A-ZÁÉÍÓÚÑ])")
"""Its dot ends no sentence."""
_JOKE = re.compile(
    r"(?<!not )(?<!n't )\b(?:(?:just |only |i'?m )*(?:kidding|joking)(?! aside)(?: (?:about|when)\b[^,.;:!?\n]*)?|jk|"
    r"(?:it'?s|that'?s|it is) not (?:really )?true(?! that)|seriously though|(?:all )?jok(?:es|ing) aside|(?:no|ahora|"
    r"ya),? (?:ya )?en serio|bromas aparte|fuera de bromas"
    r"|(?:es|era) (?:una )?broma|estoy bromeando|es mentira|no es (?:verdad|cierto)(?! que))\b",
    re.I,
)
_IRONY = re.compile(
    r"\byeah,? right\b|\b(?:lol|ha(?:ha)+|(?:ja){2,})\b[^.!?]*"
    r"\b(?:sure|obviously|of course|claro|obvio|por supuesto)\b",
    re.I,
)
_LAUGHS = re.compile(r"\b(?:lol|lmao|ha(?:ha)+|(?:ja){2,}|jeje|xd)\b|[😂🤣😅]")
_BOASTS_OR_WISHES = re.compile(
    r"\b(?:i am|soy) (?:(?:basically|practically|literally|totally|basicamente|practicamente|literalmente|casi) )*"
    r"(?:the|el|la|(?:a |an |un |una )?(?:genius|god|king|queen|legend|millionaire|billionaire|rich|genio|dios|rey|"
    r"reina|crack|leyenda|millonari[oa]|ric[oa]))\b|\b(?:i am|soy) (?:basically|practically|basicamente|"
    r"practicamente)\b|"
    r"\b(?:would|'d) (?:love|like) to\b|\bme (?:encantaria|gustaria)\b"
)
_ASIDE = re.compile(
    r"\b(?:did i (?:tell you|mention)|have i (?:told you|mentioned)|did you know|do you know|te (?:he (?:dicho|contado|"
    r"comentado)|dije|cont[eé]|coment[eé])|sab(?:es|[ií]as)) (?:that |que )(?!es\b)(?P<said>[^?]+)\?|"
    r"\b(?:did i (?:tell you|mention)|have i (?:told you|mentioned)) (?P<told>(?:i|we|my)\b[^?]+)\?",
    re.I,
)
"""A question that tells what it asks about: "did I tell you I have two kids?"."""
_ASKS = re.compile(
    r"\W*(?:(?:and|but|so|hey|ok|y|pero|oye|entonces),? )*(?:can|could|should|would|will|shall|may|do|does|did|is|are|"
    r"am|was|were|have i|has|what|which|who|whose|when|where|why|how|que|cual(?:es)?|quien|cuanto|cuanta|cuantos|"
    r"cuantas|cuando|donde|por que|puedo|debo|deberia|conviene|merece)\b"
)
"""A question that begins before its last comma."""
_ASKS_UNMARKED = re.compile(
    r"^\W*(?:(?:and|but|so|hey|ok|y|pero|oye|entonces),? )*(?:how (?:much|many|long|often|old)\b|(?:how|what|which|who|"
    r"whose|why|where|when)(?: (?!(?:i|we|you|my)\b)\w+){0,3} (?:do|does|did|is|are|was|were|am|can|could|should|would|"
    r"will|have|has)\b|(?:can|could|should|shall|would|will|do|does|did|is|are|am|was|were|have) (?:i|we|you|he|she|it|"
    r"they|there)\b|(?:what|who|where|when|how)'?s\b|which (?:one )?of\b|(?:qué|cuándo|dónde|cómo|quién(?:es)?)\b|"
    r"(?:a |de |en |por |para |con |desde |hasta )?(?:cu[aá]l(?:es)?\b|cu[aá]nt[oa]s?\b(?! (?:antes|m[aá]s|menos)\b))|"
    r"(?:por|a|de|en|con|desde|hasta) qu[eé]\b|que (?:es|son|era|tal|hora|significa|hay|pasa|tengo|tiene|puedo|debo|"
    r"hago|me (?:recomiendas|aconsejas|quedan?)|te parecen?|recuerdas|sabes|opinas|piensas)\b|"
    r"quien(?:es)? (?:es|son|era|fue|lleva|tiene|puede)\b|"
    r"donde (?:esta|estan|veo|puedo|encuentro|hay|compro|cambio|consulto|queda)\b|"
    r"como (?:va|van|esta|estan|anda|andan|sigue|siguen|le|les|se|puedo|hago|quedo|quedan)\b|"
    r"cuando (?:vence|abre|cierra|caduca|es|son|fue|publica|paga|presenta|llega|puedo)\b|"
    r"est[aá]n? \w+(?:ad|id|iert|hech)[oa]s? mis?\b|"
    r"(?:tengo|hay|gano|pierdo|me quedan?|(?:he|hemos) (?:ganado|perdido)) (?:algo|alg[uú]n|algun[oa]s?)\b|"
    r"(?:tú |y )?(?:no )?(?:sabes|sabr[ií]as|recuerdas|te acuerdas|do you (?:know|remember)) (?:de )?(?:si|if|"
    r"whether)\b|"
    r"i have any\b)[^,;:.—–]*(?P<more>.*)",
    re.I,
)
"""A question without its mark, and often without its accent, up to the end of its clause: "cuánto he ganado con Apple".
A word that may also begin a clause of a statement ("como soy vegano") is one only before a verb of questions."""
_ASKS_BEHIND = re.compile(
    r"\b(?:cu[aá]l(?:es)? (?:es|son|era)|d[oó]nde est[aá]n?|(?:what|where|who) (?:is it|are they))\W*$", re.I
)
"""The same at its end: "mi plan cual es"."""
_TAG = re.compile(
    r"(?:\b(?<!the )(?<!\bis )(?<!all )(?<!not )(?<!'s )right|"
    r",\W{0,5}(?:correct|isn'?t it|don'?t i|aren'?t i|no|verdad|cierto|a que s[ií]))\W*$",
    re.I,
)
"""It asks whether what stands before it is so: "I have 5 MSFT right"."""
_STOP_AT = re.compile(
    r"\bstop(?:[ -]loss)?(?: price)?\W{0,3}(?:(?:at|of|is|to|en|a|de|es|por|is at)\W{1,2})?[\d$€]", re.I
)
_WORKS_OUT = re.compile(
    r"\b(?:entry|enter\w*|entro|entrada|entrando|comprando|buying|risk\w*|riesgo|arriesg\w+|"
    r"how (?:many|much|big)|cu[aá]nt[oa]s?|target|objetivo)\b",
    re.I,
)
"""With a stop, figures to work something out with: "my account is 25k, entry 194, stop 188, how many shares"."""
_WISH = re.compile(
    r"^\W*(?:[\w ]{1,20}, ){0,2}(?:(?:hey|please) )?(?:could|can|would|will) you (?:please )?(?P<wish>[^?]+)\?"
    r"|^\W*(?:[\w ]{1,20}, ){0,2}(?:puedes|podr[ií]as|te importa) (?P<deseo>[^?]+)\?",
    re.I,
)
_FOR_GOOD = re.compile(
    r"\b(?:always|from now on|in future|never|instead of|any ?more|siempre|nunca|a partir de ahora|"
    r"de ahora en adelante|en vez de|en lugar de)\b",
    re.I,
)
_REPORTS = re.compile(
    r"\b(?!(?:means|seems|shows|turns|happens|helps|proves)\b)\w{4,}s that (?=(?:i|we|my|our)\b)|"
    r"\b(?:says|said|writes|wrote|keeps? saying|thinks|tells|told me|told us|keeps telling|reckons|believes|claims|"
    r"swears|insists|suggests|suggested|recommends|recommended|advises|advised|wants me|"
    r"(?:they|people|friends|parents) (?:say|think|tell me)|puts? it|used to say|dicen?|dijo|dijeron|ha dicho|"
    r"han dicho|cree(?:n)? que|decian?|escribi[oe]|afirman?|"
    r"afirmo|pensaba que|piensan?|opinan?|recomiendan?|ha recomendado|aconsejan?|ha aconsejado|aseguran?|insisten?|"
    r"quiere que)\b"
)
_I_SAID = re.compile(r"\b(?:i|we)(?: (?:\w+ly|just|also|always|have|had))? $")
_UNREAL = re.compile(
    r"(?:^|[.;,] )(?:had (?:i|we)\b|de haber \w+(?:ado|ido|cho|sto|rto)\b)|(?:^|[.;] )say (?=(?:i|we|my)\b)|"
    r"\b(?:(?:even )?if (?:i|we)'d|(?:even )?if (?:i|we|my \w+) (?:were|was|"
    r"had|could|won|lived|did|got|earned|owned)|were i|imagine(?! my)|(?:si,? claro|yeah,? right),? (?:y|and)|"
    r"imaginate|imaginemos|imagina|suppose|supposing|supon|supongamos|suponiendo|suponte|pongamos|let's say|pretend|"
    r"according to|segun (?:mi|el|la|los)|no es que|it(?:'s| is) not that|what if|i wish|ojala|as if|"
    r"como si|unless|a menos que|a no ser que|"
    r"si (?:\w+ ){0,2}?(?!para\b|cara\b)\w+(?:ara|iera|uera|ase|iese))\b"
)
_BACK = re.compile(r"\b(?:but|pero|though|although|however|sin embargo|aunque|so|asi que|la verdad)\b|[—–(]")
"""Where somebody speaks of what is so again."""
_PRETENDS = re.compile(
    r"\W*(?:(?:ok|now|just|let's|lets|vale|bueno|ahora),? )*(?:pretend|imagine|suppose|imaginate|imaginemos|imagina|"
    r"supon|suponte|supongamos|pongamos)\b"
)
"""All that follows is imagined, up to where it is taken back."""
_REALLY = re.compile(r"\W*(?:but|pero|actually|really|la verdad|en realidad|anyway|in reality)\b")
_BOUNDARY = re.compile(r"[,;:—–(]|\b(?:and|but|y|pero)\b")


def unquoted(text: str) -> str:
    """A text with spaces where it quotes somebody, so that a place in one is a place in the other."""
    return _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)


def same_length(text: str) -> str:
    """Folded letter by letter, so that a place in it is a place in the text."""
    letters = ((letter, folded(letter)) for letter in text)
    return "".join(small if len(small) == 1 else letter for letter, small in letters)


def statements(text: str) -> list[str]:
    """The sentences of a text without its questions; what comes before a question in its sentence is kept."""
    text = _TITLE.sub(r"\1", text.replace("’", "'"))
    if any(_STOP_AT.search(line) and _WORKS_OUT.search(line) for line in text.splitlines()):
        return []
    text = without_pasted(text)
    if joke := _JOKE.search(text):
        text = text[joke.end() :]
    bare, found = unquoted(text), list[str]()
    imagined = False
    starts = [0, *(match.end() for match in _SENTENCE.finditer(bare)), len(text)]
    for start, end in pairwise(starts):
        said = " ".join(text[start:end].split())
        low = folded(said)
        imagined = (imagined or bool(_PRETENDS.match(low))) and not _REALLY.match(low)
        if (imagined and not _BACK.search(low)) or _IRONY.search(low) or _is_laughed_at(plain(said)):
            continue
        said = _in_question(said) if "?" in said else _without_unmarked(said)
        if said := said.strip(" ,;:—–"):
            found.append(said)
    return found


def without_pasted(text: str) -> str:
    """A text with spaces for what follows a colon and is not its writer's own."""
    bare, at = unquoted(text), 0
    while lead := _BEFORE_A_COLON.search(bare, at):
        at = lead.end()
        if not (_OWN_LEAD.search(folded(lead[0].strip())) or _I_DID.match(lead[0])):
            at = next(_PARAGRAPH.finditer(bare, at)).end()
            text = text[: lead.end()] + " " * (at - lead.end()) + text[at:]
    return text


def _in_question(said: str) -> str:
    if aside := _ASIDE.search(said):
        return aside["said"] or aside["told"]
    if (wish := _WISH.match(said)) and _FOR_GOOD.search(said):
        return wish["wish"] or wish["deseo"]
    if _TAG.search(said):
        return ""
    if "¿" in said:
        return _without_unmarked(said.partition("¿")[0])
    before = said.rpartition(", ")[0]
    return "" if _ASKS.match(folded(before)) else before


def _without_unmarked(said: str) -> str:
    asked = _ASKS_UNMARKED.match(said)
    return asked["more"] if asked else "" if _ASKS_BEHIND.search(said) or _TAG.search(said) else said


def _is_laughed_at(said: str) -> bool:
    """Whether a plain text, told with laughter, calls its writer what nobody is, or wishes for something: "lol I'm
    basically Warren Buffett"."""
    return bool(_LAUGHS.search(said) and _BOASTS_OR_WISHES.search(said))


def own_speech(sentence: str) -> str:
    """A sentence with spaces for what somebody else says in it, and for what is only imagined."""
    said = same_length(sentence)
    boundaries = [0, *(match.start() for match in _BOUNDARY.finditer(said))]
    ends = [*(match.start() for match in _BACK.finditer(said)), len(said)]
    found = [
        (boundaries[bisect_right(boundaries, match.start()) - 1], match.end())
        for match in _REPORTS.finditer(said)
        if not _I_SAID.search(said, 0, match.start())
    ]
    found += [match.span() for match in _UNREAL.finditer(said)]
    kept, at = list[str](), 0
    for start, end in sorted((start, ends[bisect_left(ends, end)]) for start, end in found):
        if end > at:
            kept += [sentence[at : max(start, at)], " " * (end - max(start, at))]
            at = end
    return "".join([*kept, sentence[at:]])
