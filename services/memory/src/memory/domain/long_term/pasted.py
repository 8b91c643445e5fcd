"""Which part of a text its writer says themselves: not what they quote or paste into it.

What is pasted is told by its form: people chat in plain sentences, without titles, marks or signatures. In doubt a text
is not its writer's own.
"""

import re

from contracts.calendar_names import MONTHS
from memory.domain.recall.words import folded

_QUOTED = re.compile(
    r""""[^"]*"|“[^“”]*”|«[^«»]*»|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w)){8,}'(?!\w)|`[^`\n]+`|"""
    r"^[^\S\n]*(?:[-*] )?(?:[>|<#/♪☐☑☒]|\[[ x]?\]|\( ?\)).*$",
    re.M,
)
"""Quotations, and lines that begin with a mark of one, of a table, a page, code or a form. Text in single quotes must
be longer than a word, because they are apostrophes too."""
_NOT_LINE_END = re.compile(r"[^\n]")
_MAX_CHAT_LENGTH = 2_000
_CAPITAL = "[A-ZÁÉÍÓÚÑ]"
_NAME = rf"{_CAPITAL}[\w.']*"
_SAID = (
    "said|asked|thought|added|replied|wrote|says|told|explained|tweeted|dice|dijo|decía|escribió|preguntó|pensó|añadió|"
    "respondió|contestó|contó|cuenta|explicó|tuiteó|afirma|afirmó"
)
_OF_ONESELF = r"\b(?i:i(?:'m|'ve)?|my|me|we|our|yo|mis?|nos|nuestr[oa]s?|soy|somos)\b"
_TEXT = (
    r"messages?|mensajes?|mails?|e-?mails?|correos?|letters?|cartas?|texts?|textos?|tweets?|tuits?|posts?|articles?|"
    r"art[ií]culos?|noticia|headlines?|titular(?:es)?|threads?|hilos?|forums?|foros?|chapter|cap[ií]tulo|verses?|"
    r"estrofas?|chorus|estribillo|poems?|poemas?|songs?|canci[oó]n|lyrics|letra|novels?|novelas?|excerpts?|extractos?|"
    r"fragmentos?|transcripts?|transcripci[oó]n|reviews?|reseñas?|testimonials?|testimonios?|adverts?|anuncios?|"
    r"bio|biography|biograf[ií]a|cv|curr[ií]culum|r[eé]sum[eé]|quote|cita|auto-?reply|respuesta autom[aá]tica|"
    r"out of office|comments?|comentarios?|speech|discurso|pitch|essay|ensayo|homework|deberes|prompt|podcast|"
    r"interview|entrevista|minutes|acta|blog|newsletter|bolet[ií]n|caption|grammar|gram[aá]tica|spelling|ortograf[ií]a|"
    r"sentences?|frases?|paragraphs?|p[aá]rrafos?|ads?|tiktok|reel|meme|screenshot|captura|search results?|"
    r"resultados? de (?:la )?b[uú]squeda|terms|cl[aá]usula|clause|contract|contrato|captcha|slogan|eslogan|jokes?|"
    r"chistes?|proverb|refr[aá]n|dialogue|di[aá]logo|monologue|mon[oó]logo|description|descripci[oó]n|stor(?:y|ies)|"
    r"cuentos?|relatos?|fairy ?tales?|scripts?|gui[oó]n|statements?|declaraci[oó]n|memo|"
    r"case study|caso pr[aá]ctico"
)
"""What a text may be called."""
_TITLE = re.compile(
    r"(?:\A|\n[^\S\n]*\n)[^\S\n]*+(?!(?i:hi|hello|hey|hola|buen[oa]s?|good|thank\w*|gracias|ok|señor\w* de)\b)"
    rf"(?!\w{{2,}}(?:[oéí]|ing) |[^\n]*{_OF_ONESELF})(?=\d|{_CAPITAL}{{2}}|{_NAME} {_CAPITAL}|[^\n]*(?:\d:\d|[,|/-]|"
    rf"\b(?:the|of|del?|la|el|los|las)\b))(?:{_CAPITAL}|\d)[^\n]{{0,80}}[^\s.!?:,;…][^\S\n]*\n"
)
"""A line of its own that is no sentence, above a paragraph, and does not speak of its writer."""
_HEADING = re.compile(
    # It names a kind of text.
    r"\A\W*+(?!(?:i|i'm|we|(?:my|our|mis?)(?! \w+'s\b)|thank\w*|sorry|gracias|perd[oó]n\w*|disculp\w*|love|nice)\b)"
    rf"(?:[^\n.!?]{{0,60}}[^\w\n.!?])?(?<!by )(?<!por )(?:{_TEXT})\b[^\n]{{0,80}}\n|"
    # It says nothing, and is no answer to what was said before.
    r"(?-i:\A\W*+(?!(?:\w{2,}(?:[oéí]|ing)|Thank\w*|Gracias|Tiene|Moved|Live|Work|Retired|Sorry|Yes|Not?|Perdón|Perdona|Ok(?:ay)?|Well|So|And|But|That|This|It|Makes|"
    r"Sounds|Got|Sure|Great|Nice|Big|Quick|Long|Good|Bad|New|Same|Another|One|Two|Small|Just|Also|Now|Today|Some|Still|"
    r"Buen\w*|Mal\w*|Gran|Nuev\w*|Otr[oa]|Una?|Dos|Alg\w+|Muy|De acuerdo|Sí|Vale|Claro|Es[oa]|Est[oae]|Genial|Pues|"
    r"Ahora|Hoy|También|Me|Nos|Que|Qu[ée]|Cu\w+|Where|Which|Who|When|Is|Are|Do|Does|Can|Could|Should|Please)\b)"
    rf"(?=[A-ZÁÉÍÓÚÑ])(?![^\n]*(?:{_OF_ONESELF}| here$| from ))[^\W\d]+(?: [\w#&'-]+){{1,7}}"
    rf"[^\S\n]*\n[^\S\n]*\n?[A-ZÁÉÍÓÚÑ«\"—–])|"
    # It tells what the text below tells, or when that was written.
    r"\A\W*+(?:(?:why|how|what|cómo|por qué) (?:i|we|my|me|nos|mis?|\w+[éí])(?! va\b)|(?:things|lessons) (?:i|we)|"
    r"the (?:day|time|year) (?:i|my)|here(?:'s| is| are)(?! (?:my|our)\b)|from the|"
    r"lo que (?:me|nos|\w+[éí])|el día (?:que|en que))\b"
    r"[^\n?]{0,80}[^\s.!?:,;…][^\S\n]*\n|\A[^\n.!?]{3,60}, (?:de )?"
    rf"(?:{'|'.join(name for name in MONTHS if len(name) > 2)}) (?:de )?(?:19|20)\d\d[^\S\n]*\n",
    re.I,
)
"""A first line that is the title of a text, whoever it speaks of."""
_MARK = re.compile(
    # Tags, blanks to fill in, hashtags, stars, columns, code, rules between parts; who spoke; words of deeds.
    r"</|__|(?<!\S)#[a-z]\w|[★☆🧵👇👉🔗©♪]|(?<!\S)·|>>|[=(].*;$|[{}]|^(?:```|---|===|\*\*\*)|"
    r"\b(?i:once upon a time|[eé]rase una vez|hab[ií]a una vez|(?:verified purchase|compra verificada)|sent from my|"
    r"enviado desde mi|(?:declare|declaro|certify|certifico) (?:that|que)|by signing|al firmar|"
    r"in this video|en este vídeo|aita|tifu)\b|"
    r"(?<![\w/])[ru]/\w{3}|\(\d\d ?[FMfm]\)|\b[0-5](?:[.,]\d)?/5\W*$|^\d (?:stars?|estrellas)\b|"
    # Who speaks behind a quotation; a letter to somebody, and who signs it.
    rf"[\"”»] ?[—–-] ?{_NAME}|[\"”»],? (?:(?:{_SAID})\b(?! (?:my|mi|our)\b)|contaba\b)|"
    rf"\A\W*+(?i:hi|hello|hey|dear|hola|buenas|buenos días) (?!Nexus){_NAME},"
    rf"(?=[\s\S]*?(?:\n|[.!?] )(?:\w+ ){{0,2}}\w+[,!]?\s+{_NAME}\W*\Z)|"
    rf"^\w{{2,12}}> |"
    r",\s(?!(?:my|mis?|our|i|as|yo)\b)(?:\w+ ){1,3}"
    r"(?:says|said|adds|reports|dice|dijo|añade|cuenta|afirma)\b(?=[.!?]|\W*$)|^[—–] ?[A-ZÁÉÍÓÚÑ¿¡]|"
    r"\b(?i:question|exercise|problem|pregunta|ejercicio|problema) \d|"
    rf"[,.?!\"”’»—] ?(?:(?:{_SAID}) (?:the|el|la|los|las|una?|s?he|{_NAME})|preguntó|pensó|ha (?:dicho|añadido))\b|"
    r"\b(?i:hereby|undersigned|abajo firmante|por la presente|con dni)\b|"
    # Numbered parts and posts, options, times.
    r"^[^\w\n]*(?:\d\d?:\d\d\b.*\n[^\w\n]*\d\d?:\d\d\b|[a-z]\) |\d+(?:/ |[.)] [A-Z]\w+\. \w)|"
    r"(?!\w+(?:ed|t|[oéí]) )[A-Z]\w+ \d+[.:] \S)|\b\d+ ?h(?: ago)?$|"
    # A beginning in capitals, a dateline, a title with capitals, a stanza.
    rf"^[^\w\n]*{_CAPITAL}{{6,}}\W+{_CAPITAL}{{2,}}\b(?=[^\n]{{0,80}}\n?[^\n]{{0,80}}[a-z])|^[A-ZÁÉÍÓÚÑ ]{{5,}}, "
    rf"(?:\d+ de |{_NAME} \d)|^(?:{_NAME} ){{3,}}{_NAME}\n\s*\w+ [a-z]|"
    rf"(?:^{_CAPITAL}[^\d.!?\n]{{9,60}}[^\W\d],?(?:\n+|\Z)){{4}}",
    re.M,
)
"""What somebody who chats does not write: one such mark, and what is around it is pasted."""
_UNUSUAL_MARK = re.compile(
    # Brackets, columns, comments, numbers to call, an address at the end.
    r"\[[^\]\n]*\]|\w \| \w| // |\b(?i:call|text|llam\w+|escribir)(?: al?| \w+,)? \d{3}[ -]\d|"
    r"[.!:][^?\n]{0,200}(?:https?://|www\.)\S+\s*\Z|"
    # Who speaks, behind what they say; a signature.
    rf"[,.?!\"”’»—] ?(?:s?he|the \w+|{_NAME}) (?:{_SAID})\b|[.!?\"”»] [—–-] [A-Z]\w|"
    r"\n(?i:(?!thank|gracias)(?:\w+, ?|[a-z ]{1,20},\n\s*))"
    rf"{_NAME}(?: {_NAME}){{0,2}}\W*\Z|\n(?!Thank|Gracias){_NAME} {_NAME}\W*\Z",
    re.M,
)
"""A mark of pasted text, unless the text begins as its writer speaks."""
_BEGINS_AS_WRITER = re.compile(
    r"\W*(?:(?i:hi|hello|hey|hola|oye|ok|so|buen[oa]s(?: \w+)?|good \w+)\b"
    rf"(?!,? (?:team|all|everyone|equipo|tod\w+|{_NAME}[,:\n]))[ ,.!]|"
    r"(?i:i|i'm|i've|my|we|me llamo|mi|soy|tengo|vivo|trabajo)\b)"
)
"""A greeting to the assistant, or words about oneself."""
_THIS = (
    r"\b(?:this|these|below|following|est[aeo]s?|siguiente|abajo)\b"
    r"(?! (?:week|month|year|morning|evening|semana|mes|año|mañana|noche)\b)"
)
_TASK = re.compile(
    rf"^(?![^\n]*\b(?:i|my|yo|mi)\b)[^\n]{{0,60}}{_THIS}[^\n]{{0,40}}\n|"
    r"\b(?:translat\w+|summari[sz]\w+|proofread|rephrase|rewrite|shorten|make(?= th)|tradu[cz]\w+|resum\w+|"
    r"corri[gj]\w+|reescrib\w+)\b"
    rf"[^:.!?;\n]{{0,40}}{_THIS}[^:.!?;\n]{{0,40}}[:.!?\n]|"
    r"^[^\w\n]*(?:(?:is|are) th(?:is|ese)|est[oa]s? (?:es|son)) (?:una?|an?) \w+\?|"
    r"^[^\S\n]*(?:dear|(?:muy )?(?:estimad|querid|señor)[oae]\w*)\b(?! (?:assistant|nexus|de nexus))[^.!?\n]{0,40}"
    r"[,:]\s",
    re.I | re.M,
)
"""Words before a text to work on, and the salutation of a letter."""
_SCAM = "legit\\w*|scam|spam|fake|phishing|fraud\\w*|hoax|fiable|estafa|timo|bulo|fraude"
_SENTENCE_BEGINS = r"(?:^|(?<=[.!?]\s))\W*+(?:(?:please|por favor|ok|hey|oye|can you|could you|puedes),? )*"
_ASKS_ABOUT_BELOW = re.compile(
    # A question whether a text is good, true or meant well, and who wrote it.
    r"(?:^|(?<=[.!?]\s))(?:(?=[^.!?\n]{0,100}\b(?:this|these|est[aeo]s?)\b)(?=[^.!?\n]{0,100}\b"
    rf"(?:{_TEXT}|{_SCAM}|says|claims|dice|natural|fluent|polite|professional|profesional|"
    rf"educado|bullets?|viñetas|t(?:one|ono)|tense|true(?! that)|real|(?:verdad|cierto)(?! que)|who (?:said|wrote)|"
    r"quién (?:dijo|escribió))\b)|"
    rf"(?=[^.!?\n]{{0,60}}\b(?:is it|es)\b[^.!?\n]{{0,20}}\b(?:{_SCAM}|{_TEXT})\b))[^.!?\n]{{1,140}}[?:]\s*(?=\S)|"
    # A request to work on a text, on what is pasted, on what follows.
    rf"{_SENTENCE_BEGINS}(?:(?:translate|traduc\w+|tradúce\w*)(?: this| it| esto)? (?:to|into|in|al?) \w+|"
    r"(?:rewrite|rephrase|paraphrase|reword|reescribe\w*|reformula\w*|parafrasea\w*)\b(?! (?:your|my|tus?|mis?)\b)|"
    r"how (?:do|would|can|should) (?:you|i|we|one) (?:say|write|spell)(?! (?:no|yes|that|it)\b)|"
    r"c[oó]mo se (?:dice|escribe)|"
    r"(?:fix|correct|check|edit|improve|polish|rate|grade|review|explain|write|summari[sz]e|"
    r"proofread|translate|explica\w*|escribe\w*|corrige\w*|revisa\w*|"
    r"mejora\w*|valora\w*|punt[uú]a\w*|analiza\w*|resume|tradu\w+) (?![^.!?\n]{0,30}\b(?:your|tus?)\b)[^.!?\n]{0,30}"
    rf"\b(?:{_TEXT}))\b|"
    r"\b(?:past(?:e|ed|ing)|copied|forward(?:ed|ing)|copiad[oa]|pegad[oa]|reenviad[oa]|copio|te (?:leo|pego|"
    r"reenv[ií]o))\b[^,.!?\n]{0,60}[,.!?:\n]|"
    r"^\W*+(?:for|para) (?:my|mi) (?:\w+ )?(?:class|clase)\b[^.!?\n]{0,80}[.!?:\n]|"
    rf"\A\W*+(?:{_TEXT}|entrada|entry) (?:of|from|by|del?) [^.!?\n]{{0,60}}[.!?]\s|"
    r"(?<!remember )(?<!mind )(?<!note )(?<!know )(?<!tell you )(?<!cuenta )(?<!recuerda )(?<!anota )(?<!apunta )"
    r"\b(?:the following|lo siguiente)[^\S\n]*[.!?\n]|"
    # A text that was seen or came.
    r"\b(?:saw|read|found|got|received|heard|sent|vi|le[ií]|le[ií]do|visto|encontr\w+|recib\w+|lleg\w+|mand\w+|"
    rf"envi\w+)\b[^.!?\n]{{0,25}}\b(?:an?|this|una?|est[ea])\b[^.!?\n]{{0,15}}\b(?:{_TEXT})[.!\n]|"
    # A greeting that is not the first sentence: of a letter.
    r"(?<=[^\n]{8}[.!?:\n])\s*(?:(?:hi|hello|hola|dear|estimad[oa]s?|querid[oa]s?)\b[^.!?:\n]{0,30}[,.!:\n]|"
    r"(?:hey|hi|hola) (?:mum|mom|dad|mam[aá]|pap[aá])\b)",
    re.I | re.M,
)
"""Words behind which everything may be another's."""
_ASKED_ABOUT = re.compile(
    r"\n(?=[^\n]*\b(?:mean|significa|scam|estafa|trust|reply|fiar|contesto|true|verdad)(?: \w+){0,2}\?\s*\Z)", re.I
)
"""Before a question at the end about the text above it."""
_LABEL = re.compile(r"[^:.!?;\n]{1,120}(?P<mark>:| >| [—–-])(?=\s)(?! {8})")
"""Words before a text; a quotation, which is blank here, ends by itself."""
_OWN_LEAD = re.compile(
    r"\b(?:chang\w+ of (?:plans?|heart|mind)|cambio de (?:planes?|idea|opinion|tercio)|novedad(?:es)?)\W*[:—–-]$|"
    r"\b(?:remember|recuerd[ae]\w*|anota|apunta|acuerdate|ten en cuenta)\b|\b(?:about (?:me|us|myself)|(?:sobre|de) mi|"
    r"in mind|forget|notes?|notas?|olvides|update|fyi|btw|ps|pd|hi|hello|hey|hola|buenas|oye|mira|ojo|important\w?|"
    r"context\w?|background|joke|broma|correction|aclaracion|aviso|reminder|short|clear|honest|way|cierto|know|sepas|"
    r"truth|verdad|idea|sorry|perdon|wait|espera|actually|(?:thing|fact|detail|cosa|dato|detalle)s?|news|noticias?|"
    r"(?:my|our|mis?|nuestr[oa]s?) (?:\w+ )?(?:situa[ct]ion|case|plan|goal|aim|rule|reason|caso|objetivo|meta|regla|"
    r"razon)(?:es|s)?)\W*[:—–-]$|^\W*(?:muy )?(?:senor(?:es|as?)?|estimad[oa]s?|querid[oa]s?|dear)\b|"
    r"^\W*(?:buenas tardes\W+)?(?:(?:an?|another|quick|my|the|una|otra|mi|la) )*(?:questions?|preguntas?|dudas?|first|"
    r"second|primero|segundo|(?:en|in) (?:resumen|short))\W*:$|"
    r"^\W*(?:(?:so|and|but|well|ok|now|also|then|y|pero|pues|bueno|ahora|tambien|ya|yo|te|os|me|nos|no),? )*"
    r"(?:(?:i|we)\b(?! (?:\w+ )?(?:read|saw|heard|got|received|found|quote|copied|was|were)\b)|let me|tengo|"
    r"tenemos|soy|somos|estoy|vivo|quiero|trabajo|gano|invierto|opero|uso|sigo|hago|pago|debo|ahorro|prefiero|voy|"
    r"cuento|explico|(?:he|hemos)(?! (?:leido|visto|oido|recibido|encontrado|copiado|escuchado)\b)|(?:my|our|mis?|"
    r"nuestr[oa]s?) \w+ (?:is|are|es|son)\b)|\b(?:wrong|mistaken|mistake|equivoqu\w+|equivocad[oa]|error)\W*[:—–-]$"
)
"""What people write before a colon to introduce something about themselves, or to have it remembered."""
_I_DID = re.compile(r"\W*(?!(?:aqu|ah|all|as|s)í\b)\w+[éí] [a-zñ]", re.I)
"""Cambié de idea."""


def unquoted(text: str) -> str:
    """Returns a text with its quotations replaced by spaces, so that positions in both texts are the same."""
    return _QUOTED.sub(lambda quoted: _NOT_LINE_END.sub(" ", quoted[0]), text)


def without_pasted_text(text: str) -> str:
    """Returns the part of a text that is its writer's own: up to a title, a label or words about what follows; of a
    text with marks only a first line that asks about it."""
    if len(text) > _MAX_CHAT_LENGTH or _has_mark(text):
        head, _, body = text.strip().partition("\n")
        is_chat = body and ("?" in head or head[:1].islower()) and not _has_mark(head)
        return without_pasted_text(head[:_MAX_CHAT_LENGTH]) if is_chat else ""
    unquoted_text = unquoted(text)
    if above := _ASKED_ABOUT.search(unquoted_text):
        return text[above.end() :]
    label = next((match for match in _LABEL.finditer(unquoted_text) if not _is_own(match)), None)
    leads = (label, *(lead.search(unquoted_text) for lead in (_TITLE, _HEADING, _TASK, _ASKS_ABOUT_BELOW)))
    return text[: min((lead.start() for lead in leads if lead), default=len(text))]


def _has_mark(text: str) -> bool:
    return bool(_MARK.search(text) or (not _BEGINS_AS_WRITER.match(text) and _UNUSUAL_MARK.search(text)))


def _is_own(label: re.Match[str]) -> bool:
    """Whether words before a colon or a dash introduce something about their writer."""
    is_noun = label["mark"] in (":", " >") or (label[0][0].isupper() and not re.search(_OF_ONESELF, label[0]))
    return not is_noun or bool(_OWN_LEAD.search(folded(label[0].strip())) or _I_DID.match(label[0]))
