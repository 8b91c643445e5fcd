"""Which part of a text its writer says themselves: not what they quote or paste into it.

What is pasted is told by its form: people chat in plain sentences, without titles, marks or signatures. In doubt a text
is not its writer's own.
"""

import re

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
_SAID = "said|asked|thought|added|replied|wrote|says|dice|dijo|decía|escribió|preguntó|pensó|añadió|respondió|contestó"
_OF_ONESELF = r"\b(?i:i(?:'m|'ve)?|my|me|we|our|yo|mis?|nos|nuestr[oa]s?|soy|somos)\b"
_TITLE = re.compile(
    r"(?:\A|\n[^\S\n]*\n)[^\S\n]*(?!(?i:hi|hello|hey|hola|buen[oa]s?|good|thank\w*|gracias|ok|señor\w* de)\b)"
    rf"(?!\w{{2,}}(?:[oéí]|ing) |[^\n]*{_OF_ONESELF})(?=\d|{_CAPITAL}{{2}}|{_NAME} {_CAPITAL}|[^\n]*(?:\d:\d|[,|/-]|"
    rf"\b(?:the|of|del?|la|el|los|las)\b))(?:{_CAPITAL}|\d)[^\n]{{0,80}}[^\s.!?:,;…][^\S\n]*\n"
)
"""A line of its own that is no sentence, above a paragraph, and does not speak of its writer."""
_MARK = re.compile(
    # Tags, blanks to fill in, hashtags, stars, columns, code, rules between parts; who spoke; words of deeds.
    r"</|__|(?<!\S)#[a-z]\w|[★☆🧵👇👉🔗©♪]|(?<!\S)·|>>|[=(].*;$|[{}]|^(?:```|---|===|\*\*\*)|"
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
_ASKED_ABOUT = re.compile(
    r"\n(?=[^\n]*\b(?:mean|significa|scam|estafa|trust|reply|fiar|contesto|true|verdad)(?: \w+){0,2}\?\s*\Z)", re.I
)
"""Before a question at the end about the text above it."""
_LABEL = re.compile(r"[^:.!?;\n]{1,120}(?P<mark>:| >| [—–-])(?=\s)")
_OWN_LEAD = re.compile(
    r"\b(?:chang\w+ of (?:plans?|heart|mind)|cambio de (?:planes?|idea|opinion|tercio)|novedad(?:es)?)\W*[:—–-]$|"
    r"\b(?:remember|recuerd[ae]\w*|anota|apunta|acuerdate|ten en cuenta)\b|\b(?:about (?:me|us|myself)|(?:sobre|de) mi|"
    r"in mind|forget|notes?|notas?|olvides|update|fyi|btw|ps|pd|hi|hello|hey|hola|buenas|oye|mira|ojo|important\w?|"
    r"context\w?|background|joke|broma|correction|aclaracion|aviso|reminder|short|clear|honest|way|cierto|know|sepas|"
    r"truth|verdad|idea|sorry|perdon|wait|espera|actually|(?:thing|fact|detail|cosa|dato|detalle)s?|news|noticias?|"
    r"(?:my|our|mis?|nuestr[oa]s?) (?:\w+ )?(?:situa[ct]ion|case|plan|goal|aim|rule|reason|caso|objetivo|meta|regla|"
    r"razon)(?:es|s)?)\W*[:—–-]$|^\W*(?:muy )?(?:senor(?:es|as?)?|estimad[oa]s?|querid[oa]s?|dear)\b|"
    r"^\W*(?:(?:so|and|but|well|ok|now|also|then|y|pero|pues|bueno|ahora|tambien|ya|yo|te|os|me|nos|no),? )*"
    r"(?:(?:i|we)\b(?! (?:\w+ )?(?:read|saw|heard|got|received|found|quote|copied|was|were)\b)|let me|tengo|"
    r"tenemos|soy|somos|estoy|vivo|quiero|trabajo|gano|invierto|opero|uso|sigo|hago|pago|debo|ahorro|prefiero|voy|"
    r"cuento|explico|(?:he|hemos)(?! (?:leido|visto|oido|recibido|encontrado|copiado|escuchado)\b)|(?:my|our|mis?|"
    r"nuestr[oa]s?) \w+ (?:is|are|es|son)\b)"
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
    leads = (_TITLE.search(unquoted_text), _TASK.search(unquoted_text), label)
    return text[: min((lead.end() for lead in leads if lead), default=len(text))]


def _has_mark(text: str) -> bool:
    return bool(_MARK.search(text) or (not _BEGINS_AS_WRITER.match(text) and _UNUSUAL_MARK.search(text)))


def _is_own(label: re.Match[str]) -> bool:
    """Whether words before a colon or a dash introduce something about their writer."""
    is_noun = label["mark"] in (":", " >") or (label[0][0].isupper() and not re.search(_OF_ONESELF, label[0]))
    return not is_noun or bool(_OWN_LEAD.search(folded(label[0].strip())) or _I_DID.match(label[0]))
