"""What the writer of a text says and means: without quotations, pasted texts, questions and jokes, and in each sentence
without other people's words and without what is only imagined."""

import re
from bisect import bisect_left, bisect_right
from itertools import pairwise

from memory.domain.long_term.concepts import normalize
from memory.domain.long_term.pasted import unquoted, without_pasted_text
from memory.domain.recall.words import folded

_SENTENCE = re.compile(r"(?<=[!?;\n])\s*|(?<=\.)\s+|(?<=[a-záéíóúñ)]\.)(?=[A-ZÁÉÍÓÚÑ¿¡])")
"""A full stop ends a sentence before a space or a capital: not in a figure, nor in "ana@example.org"."""
_TITLE = re.compile(r"\b(Dra?|Mrs?|Ms|Prof|Sra?|Srta|St|Sta)\.(?=\s+[A-ZÁÉÍÓÚÑ])")
"""A title whose full stop ends no sentence."""
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
"""A question that states what it asks about: "did I tell you I have two kids?"."""
_GIVEN = re.compile(
    r"\b(?:now that|given that|seeing (?:that|as)|does it matter that|ahora que|ya que|dado que|"
    r"teniendo en cuenta que) (?!you\b|it\b|the(?:y|re)?\b|he\b|she\b)(?P<given>[^?,;]+)[^?]*\?",
    re.I,
)
"""What a question takes for granted: "is it worth it now that I earn 3000?"."""
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
A word that may also begin a clause of a statement ("como soy vegano") counts only before a verb of questions."""
_ASKS_BEHIND = re.compile(
    r"\b(?:cu[aá]l(?:es)? (?:es|son|era)|d[oó]nde est[aá]n?|(?:what|where|who) (?:is it|are they))\W*$|"
    r"^\W*(?:(?:and|but|so|ok|y|pero),? )*(?:if|when|si|cuando)\b[^.;]*\b"
    r"(?:(?:what|how (?:much|many|far|long)) (?:do|does|did|"
    r"would|will|could|can|should|is|are|am|was)|cu[aá]nt[oa]s?|qu[eé] (?:pasa|pasar[ií]a|gano|pierdo|hago))\b",
    re.I,
)
"""A question word at the end, or behind a condition: "mi plan cual es", "if it goes to 35 what do I make"."""
_TAG = re.compile(
    r"(?:\b(?<!the )(?<!\bis )(?<!all )(?<!not )(?<!'s )right|"
    r",\W{0,5}(?:correct|isn'?t it|don'?t i|aren'?t i|no|verdad|cierto|a que s[ií]))\W*$",
    re.I,
)
"""Asks whether what comes before it is so: "I have 5 MSFT right"."""
_STOP_AT = re.compile(
    r"\bstop(?:[ -]loss)?(?: price)?\W{0,3}(?:(?:at|of|is|to|en|a|de|es|por|is at)\W{1,2})?[\d$€]", re.I
)
_WORKS_OUT = re.compile(
    r"\b(?:entry|enter\w*|entro|entrada|entrando|comprando|buying|risk\w*|riesgo|arriesg\w+|"
    r"how (?:many|much|big)|cu[aá]nt[oa]s?|target|objetivo)\b",
    re.I,
)
"""With a stop price, these are figures for a calculation: "my account is 25k, entry 194, stop 188, how many shares"."""
_WISH = re.compile(
    r"^\W*(?:[\w ]{1,20}, ){0,2}(?:(?:hey|please) )?(?:could|can|would|will) you (?:please )?(?P<wish>[^?]+)\??"
    r"|^\W*(?:[\w ]{1,20}, ){0,2}(?:puedes|podr[ií]as|te importa) (?P<deseo>[^?]+)\??",
    re.I,
)
_FOR_GOOD = re.compile(
    r"\b(?:always|from now on|in future|never|instead of|any ?more|siempre|nunca|a partir de ahora|"
    r"de ahora en adelante|en vez de|en lugar de)\b",
    re.I,
)
_I_BEGIN = r"(?:i|we|my|our|yo|me|tengo|soy|mis?|quiero|vivo|trabajo|estoy|gano|debo)"
_REPORTS = re.compile(
    r"\b(?!(?:means|seems|shows|turns|happens|helps|proves)\b)\w{4,}s that (?=(?:i|we|my|our)\b)|"
    rf"\b(?:reads|states?|texted(?: me| us)?|repeats?|claims?|(?:may|might|can|could|would) (?:say|write|claim)|"
    rf"(?:sentence|text|statement|words|frase|texto|afirmacion)(?: is| are| es)?|pone[ns]?|ponia|repiten?|"
    rf"(?:starts?|begins?|goes|empieza|comienza) (?:with|like|con|asi)|"
    rf"(?:puede|podria)n? (?:decir|escribir)|(?:jura|estipula|sostiene|promete|indica|senala|anuncia|explica)n? que) "
    rf"(?=(?:that |que )?{_I_BEGIN}\b)|"
    r"\b(?:says|said|writes|wrote|tweet(?:s|ed)|tuite(?:a|o)|public(?:a|o)|keeps? (?:saying|posting)|"
    r"posts|posted|thinks|tells|told me|told us|keeps telling|reckons|believes|claims|"
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
    r"imaginate|imaginemos|imagina|"
    r"finge|simula|haz como|pon que|suppose|supposing|supon|supongamos|suponiendo|suponte|pongamos|let's say|pretend|"
    r"according to|segun (?:mi|el|la|los)|no es que|it(?:'s| is) not that|what if|i wish|ojala|as if|"
    r"como si|unless|a menos que|a no ser que|"
    r"si (?:\w+ ){0,2}?(?!para\b|cara\b)\w+(?:ara|iera|uera|ase|iese))\b"
)
_BACK_TO_REALITY = re.compile(r"\b(?:but|pero|though|although|however|sin embargo|aunque|so|asi que|la verdad)\b|[—–(]")
"""Where a sentence returns to reality."""
_PRETENDS = re.compile(
    r"\W*(?:(?:ok|now|just|let's|lets|vale|bueno|ahora),? )*(?:pretend|imagine|suppose|finge|simula|"
    r"haz como|pon que|imaginate|imaginemos|imagina|"
    r"supon|suponte|supongamos|pongamos|role-?\s?play|(?:hagamos )?(?:un )?juego de rol|in (?:my|a|the) dream|"
    r"i dream(?:t|ed) (?:that )?i (?:was|had)|(?:anoche )?sone que|en (?:mi|un) sueno)\b"
)
"""Everything that follows is imagined, until it is taken back."""
_REALLY = re.compile(r"\W*(?:but|pero|actually|really|la verdad|en realidad|anyway|in reality)\b")
_BOUNDARY = re.compile(r"[,;:—–(]|\b(?:and|but|y|pero)\b")


def folded_in_place(text: str) -> str:
    """Returns the text folded letter by letter, so that positions in both texts are the same."""
    letters = ((letter, folded(letter)) for letter in text)
    return "".join(folded_letter if len(folded_letter) == 1 else letter for letter, folded_letter in letters)


def statements(text: str) -> list[str]:
    """Returns the sentences of a text without its questions; the part of a sentence before a question is kept."""
    text = _TITLE.sub(r"\1", text.replace("’", "'"))
    if any(_STOP_AT.search(line) and _WORKS_OUT.search(line) for line in text.splitlines()):
        return []
    text = without_pasted_text(text)
    if joke := _JOKE.search(text):
        text = text[joke.end() :]
    unquoted_text, sentences = unquoted(text), list[str]()
    is_imagined = False
    starts = [0, *(match.end() for match in _SENTENCE.finditer(unquoted_text)), len(text)]
    for start, end in pairwise(starts):
        sentence = " ".join(text[start:end].split())
        lowered = folded(sentence)
        is_imagined = (is_imagined or bool(_PRETENDS.match(lowered))) and not _REALLY.match(lowered)
        if (
            not unquoted_text[start:end].strip()
            or (is_imagined and not _BACK_TO_REALITY.search(lowered))
            or _IRONY.search(lowered)
            or _is_joking_boast(normalize(sentence))
        ):
            continue
        is_question = "?" in sentence or (_WISH.match(sentence) and _FOR_GOOD.search(sentence))
        sentence = _statement_in_question(sentence) if is_question else _without_unmarked_question(sentence)
        if sentence := sentence.strip(" ,;:—–"):
            sentences.append(sentence)
    return sentences


def _statement_in_question(sentence: str) -> str:
    """Returns the part of a sentence with a question that states something, or an empty text."""
    if aside := _ASIDE.search(sentence):
        return aside["said"] or aside["told"]
    if (request := _WISH.match(sentence)) and _FOR_GOOD.search(sentence):
        return request["wish"] or request["deseo"]
    if given := _GIVEN.search(sentence):
        return given["given"]
    if _TAG.search(sentence):
        return ""
    if "¿" in sentence:
        return _without_unmarked_question(sentence.partition("¿")[0])
    before = sentence.rpartition(", ")[0]
    return "" if _ASKS.match(folded(before)) else before


def _without_unmarked_question(sentence: str) -> str:
    question = _ASKS_UNMARKED.match(unquoted(sentence))
    return (
        sentence[question.start("more") :]
        if question
        else ""
        if _ASKS_BEHIND.search(sentence) or _TAG.search(sentence)
        else sentence
    )


def _is_joking_boast(normalized: str) -> bool:
    """Whether a normalized text, written with laughter, boasts absurdly or only wishes: "lol I'm basically Warren
    Buffett"."""
    return bool(_LAUGHS.search(normalized) and _BOASTS_OR_WISHES.search(normalized))


def own_speech(sentence: str) -> str:
    """Returns a sentence with spaces in place of what it reports from others and of what is only imagined."""
    lowered = folded_in_place(sentence)
    boundaries = [0, *(match.start() for match in _BOUNDARY.finditer(lowered))]
    ends = [*(match.start() for match in _BACK_TO_REALITY.finditer(lowered)), len(lowered)]
    spans = [
        (boundaries[bisect_right(boundaries, match.start()) - 1], match.end())
        for match in _REPORTS.finditer(lowered)
        if not _I_SAID.search(lowered, 0, match.start())
    ]
    spans += [match.span() for match in _UNREAL.finditer(lowered)]
    parts, position = list[str](), 0
    for start, end in sorted((start, ends[bisect_left(ends, end)]) for start, end in spans):
        if end > position:
            parts += [sentence[position : max(start, position)], " " * (end - max(start, position))]
            position = end
    return "".join([*parts, sentence[position:]])
