"""Patterns of messages that continue a question about tickers, over plain text in Spanish and English."""

import re

from agent.domain.analysis.asked import KINDS
from agent.domain.analysis.figure_vocabulary import FELL
from agent.domain.analysis.normalization import CALM
from agent.domain.analysis.question_patterns import CROSSING, LENGTHS, RULE_PATTERNS, UNIT, WHOLE_AVERAGE
from agent.domain.claims import times
from agent.domain.tickers import NAMES
from contracts.expressions import expression

RANKING_REQUEST = expression(
    r"\b(?:sort|rank|order|compare)(?: all(?: of)?)? (?:them|these|those|all)\b|"
    r"\b(?:ordena|clasifica|compara)(?:me)?l[oa]s\b|"
    r"\bhow (?:do|did|would) (?:they|these|those) (?:rank|compare)\b|"
    r"^\W*(?:(?:and|y|e|now|ahora)\b\W*)?(?:by|por) "
)
"""Matches a request to sort the tickers of earlier messages."""
ONE_OF_THEM = expression(
    r"\b(?:w(?:h)?ich|who|cual(?:es)?|quien)(?: one| una?)? (?:of|de) (?:them|those|these|the (?:two|three)|"
    r"(?:l[oa]s|es[oa]s|est[oa]s) (?:dos|tres|[23])|ell[oa]s)\b|"
    r"\b(?:of|de) (?:the|l[oa]s) (?:two|three|dos|tres)\W*$|"
    r"^\W*(?:and|y) (?:the|el|la) (?:better|worse|higher|lower|bigger|smaller|deeper|mejor|peor|mayor|menor) \w+\W*$|"
    r"^\W*(?:(?:and|y|e|so|but|pero)\W+)?(?:w(?:h)?ich|who|cual|quien)(?: one)? "
    r"(?:is|was|has|had|did|fell|rose|recovered|es|fue|era|ha|tuvo|cayo|subio|bajo|se recupero) "
    r"(?:(?:the|el|la|l[oa]s) )?(?:(?:more|most|less|least|mas|menos|mayor|menor|biggest|smallest|largest|deepest)"
    r"(?: \w+)?|\w+e(?:r|st)|best|worst|worse|mejor|peor|first|antes|primero)\W*$"
)
"""Matches a question which of the tickers of earlier messages has the most of something."""
WHICH_HAS_MORE = expression(
    rf"^\W*(?:(?:and|y|e|so|but|pero|ok)\W+)*(?:which|who|cual|quien)\b(?! (?:of|de) (?:the|all|l[oa]s|tod\w+) {KINDS})"
    r"(?!.*\b(?:days?|weeks?|months?|quarters?|years?|dias?|semanas?|mes(?:es)?|trimestres?|anos?)\b)"
    r".*\b(?:more|most|less|least|mas|menos|mayor|menor|mejor|peor|better|worse|best|worst|w[io]ns?|gan[oa]|lost|"
    r"perdio|"
    r"\w{3,}(?:[^aeiou]er|est))\b"
)
"""The same, with other words behind it: "and which has grown faster?". Only after several tickers."""
WHICH_OF_ALL = expression(
    r"^\W*(?:(?:and|y|e|so|but|pero|ok|now|ahora)\W+)*"
    r"(?:(?:of|de) (?:those|them|these|es[oa]s|ell[oa]s|l[oa]s que)\W+)?"
    r"(?:w(?:h)?ich|who|(?:(?:is|are|did|has|have|hay|esta|estan) )?(?:any|some|algun[oa]s?)|cual(?:es)?|quien(?:es)?|"
    r"(?:(?:show|list|give|dame|muestra\w*|ensena\w*|lista\w*) (?:me )?)?(?:only|just|sol[oa]) "
    r"(?:those|the ones|l[oa]s|es[oa]s|aquell[oa]s) (?:that|which|whose|with|que|con|cuy[oa]s)|"
    r"(?:those|the ones|l[oa]s) (?:with|de|con) (?:(?:the|el|la) )?(?:most|least|highest|lowest|mas|menos|mayor|"
    r"menor))\b"
)
"""After a question about all tickers, asks it of them, too."""
UP_TO_NOW = expression(r"\b(?:ha(?:s|ve) (?:it|they) been|last (?:trade|close|time)|llevan?|ultima vez)\b")
"""Asks for what has lasted, or last was, up to now."""
IS_NOW = expression(
    r"^\W*(?:(?:and|y|so|ok)\W+)*(?:(?:which|who|cual(?:es)?|quien(?:es)?)\W+(?:is|are|es|son|esta|estan)|"
    r"(?:is|are|hay|esta|estan) (?:any|some|algun[oa]s?))\b"
)
"""Asks how tickers stand now."""
OF_BOTH = expression(r"\b(?:their|they|them|each other)\b")
"""Refers to several tickers, or to the people of one company."""
PLURAL_NAME = expression(rf"\b(?:{'|'.join(name for name in NAMES if name.isalpha())})s\W*$", re.IGNORECASE)
"""A company's name with an s, whose apostrophe was left out."""
CHOOSES = expression(r"\b(?:which one|who|quien)\b|\b(?:which|cual) (?:has|had|pays?|paid|tiene|tuvo|paga|pago)\b")
"""Asks which of several tickers it is."""
COMPARES = expression(r"\bcompar")
ALL_OF_MARKET = expression(rf"\b(?:all|every|tod[oa]s)(?: (?:of|the|de|l[oa]s))* {KINDS}\b")
"""Names all tickers of the market, and so none of earlier messages."""
OPPOSITES = (
    "best worst", "better worse", "most least", "more less", "highest lowest", "biggest smallest", "largest smallest",
    "top bottom", "mejor peor", "mejores peores", "mas menos", "mayor menor", "mayores menores",
)  # fmt: skip
OPPOSITE = {word: pair.split()[1 - i] for pair in reversed(OPPOSITES) for i, word in enumerate(pair.split())}
RISING = frozenset(pair.split()[0] for pair in OPPOSITES)
QUALITIES = frozenset(("best", "worst", "better", "worse", "mejor", "peor", "mejores", "peores"))
FALLING = expression(rf"\b{FELL}\b")
SUPERLATIVE = expression(rf"\b(?:{'|'.join(OPPOSITE)})\b")
COUNT = r"\d{1,2}|two|three|four|five|ten|dos|tres|cuatro|cinco|diez"
OTHER_END = expression(
    rf"^\W*(?:(?:and|y|e|but|pero|so|which|what|who|cual|que|one|about|is|was|are|fue|es|the|that|el|la|los|las|lo|"
    rf"its|their|sus?|"
    rf"de|hay)\W+)*(?:(?P<count>{COUNT}) )?(?:(?P<calm>{CALM})|(?P<superlative>{'|'.join(OPPOSITE)})(?: volatil\w*)?)"
    rf"(?: (?P<count2>{COUNT}))?(?: ones?| of (?:all|them))?\W*$"
)
"""Matches a message that asks for an end of a ranking: "and the worst?", "the best three?", "and the calmest?"."""
VOLATILITY = expression(r"\bvolatil|\bcalm|\btranquil")
BY_RETURN = expression(r"\b(?:by (?:their |its )?returns?|por (?:su )?rentabilidad)\b")
OTHER_TICKER = expression(
    r"\W*(?:(?:and|y|e|what|how|about|que|tal|thing|again|cosa|with|con|for|para|of|de|del|in|on|en|the|el|la|same|lo|"
    r"mismo|now|ahora|"
    r"then|a|no|not|sorry|perdon|i|meant?|queria|quise|decir|digo|just|only|solo|try|it|test|run|do|prueba\w*|haz\w*|"
    r"between|entre|"
    r"is|are|es|son|ok|so|well|check|get|give|me|dame|show|mira|back-?test|lo)\W+)*"
    r"\x01+(?:['’]s)?(?:(?:\W+(?:and|y|e))?\W+\x01+)*(?: (?:too|also|instead|tambien|please|pls|por favor))*\W*"
)
"""Matches a message that only names other tickers, or corrects the ticker."""
JUDGES = expression(
    r"^\W*(?:(?:and|so|but|y|pero)\W+)*(?:is|are|es|son|esta) (?:(?:it|that|this|these|those|eso|esto) )?"
    r"(?:(?:very|too|quite|considered|muy|demasiado) )?(?:high|low|good|bad|a lot|much|normal|alt[oa]|baj[oa]|buen[oa]|"
    r"mal[oa]|much[oa]|poc[oa])\W*$"
)
"""Asks for a judgement of what was told, and for no high or low."""
COMPARED_WITH = expression(
    r"\W*(?:(?:and|y|e|now|ahora|please|por favor)\W+)*(?:compar\w+(?: (?:it|that|this|them|eso|esto|es[oa]s))?|vs\.?|"
    r"versus|against|frente a|contra|(?:(?:is|was|es|fue|era|did|has|how) )?(?:(?:it|that|this|eso|esto) )?"
    r"(?:(?:do|done|any|mucho|much) )?(?:better|worse|more|less|higher|lower|mejor|peor|mas|menos)(?: \w+)? "
    r"(?:than|que)) (?:(?:with|to|against|con|a|(?:el|la|lo) de) )?(?:(?:the|el|la|los|las) )?\x01+(?:['’]s)?\W*"
)
"""Matches a message that compares what was asked with another ticker."""
COMPARES_IT = expression(
    r"\bcompar(?:\w*[aei]l[oa]s?|\w* (?:its?|their|sus?|th(?:is|at|em|ese|ose)|es[oae]s?|est[oae]s?|ell[oa]s))\b"
)
"""Compares what earlier messages were about with the tickers that are named."""
PART_OF_YEAR = expression(
    r"\b(?:q[1-4]|(?:first|second|third|fourth|1st|2nd|3rd|4th|primer|segund[oa]|tercer|cuarto) "
    rf"(?:quarter|half|trimestre|semestre|mitad)|{times.MONTH})\b(?!\D{{0,8}}\d{{4}})"
)
AGAINST_ONE = expression(
    r"\b(?:versus|vs\.?|against|(?:compar\w+|relative|next) (?:to|with|con)|frente a|contra|comparad[oa] con|"
    r"(?:more|less|better|worse|higher|lower|\w{3,}er|mas|menos|mejor|peor|mayor|menor)(?: \w+)? (?:than|que)) "
    r"(?:(?:the|el|la|l[oa]) )?(?:de )?\x01"
)
"""Compares what was spoken of with another ticker."""
WITHOUT_DIVIDENDS = expression(r"\b(?:without|excluding|ex|sin)(?: the| contar| los)?(?: los)? divid\w+\W*$")
"""The returns that were told have none."""
HOLDING = dict(RULE_PATTERNS)["buy_and_hold"]
WHOLE_RULE = (
    *(pattern for _, pattern in RULE_PATTERNS if pattern is not HOLDING), CROSSING, LENGTHS, WHOLE_AVERAGE
)  # fmt: skip
GOES_ON = expression(
    r"^\W*(?:and|y|e|but|pero|what about|how about|que tal|with|con|including|contando)\b|"
    r"\b(?:its?|their|they|sus?|(?:is|was|has|did|does) it|"
    r"what(?:\W?s| is| was| are| were) the|the (?:stock|share|company)|"
    r"la (?:accion|empresa))\b"
)
"""Matches a message that is about what was asked last."""
FILLERS = expression(
    rf"{GOES_ON.pattern}|\b(?:with|con|using|usando|on|en|if|si|used?|uso|usas?|the|"
    rf"el|la|l[oa]s|ok|now|ahora|instead|por|for)\b"
)
"""Words that say no more than that something goes on."""
OWN_WORDS = expression(
    r"\b(?:my|mine|mis?|i|me|he|hemos|llevo|voy|tengo|"
    r"pierdo|cuanto gano|"
    r"buy|sell|alert\w*|avis\w+|compr\w+|vend\w+|que (?:es|son)|what (?:is|are) an?|"
    r"plans?|planes)\b|\bbeat(?: (?:\w+ )?(?:estimates|expectations))?\W*$"
)
"""Matches a message about the customer's own things, or what a word means."""
WITH = expression(r"\b(?:with|con|at|a) $")
DEFINES = expression(
    r"^\W*(?:(?:and|y|e|ok|but|pero)\W+)*(?:q(?:ue)? (?:es|son|significa)|what(?:\W?s| is| are| does)|explain|"
    r"explica\w*)\b|\bdiffer\w*|\bdiferencia\w*|\bmeans?\b"
)
"""Asks what a word means, or how it differs from another."""
WORD = expression(r"[\^$]?\w[\w.&/-]*\w|\w")
PLACES = expression(
    r"\b(?:the )?(?:(?P<first>first)|last) (?:two|2)\b|"
    r"\bl[oa]s (?:dos |2 )?(?:(?P<primeras>primer[oa]s)|ultim[oa]s)(?: dos)?\b"
)
"""Two of the tickers of a list, by their place."""
EACH_OF_THEM = expression(
    r"\b(?:both|all (?:three|of them)|cada un[oa]|amb[oa]s|(?:en|de|a|con|para) l[oa]s (?:dos|tres|cuatro))\b|"
    r"\beach\b(?! (?:day|week|month|quarter|year|session|time|other))"
)
"""Each of several tickers of earlier messages."""
OF_BOTH_NAMED = expression(r"\b(?:both|amb[oa]s|(?:en|de|a|con|para) l[oa]s dos)\b")
"""Each of the two that were named last."""
ORDERS = expression(r"\b(?:buy|sell|alert\w*|avis\w+|compra(?:me|r)?|vend[ea]\w*|watch ?list|lista|orders?|ordenes)\b")
ALERTS = expression(r"^\W*(?:\w+\W+){0,3}?(?:alert\w*|avis\w+|warn|notify|ping) (?!.*\?)")
"""Asks for an alert, which is no analysis that another ticker goes on with."""
WITH_MORE = expression(
    r"^\W*(?:(?:and|y|e|but|pero|ok)\W+)*(?:(?:how|what) about|with|without|using|con|sin|usando|what if|"
    r"que (?:pasa|pasaria) si|si|que tal)\b"
)
COSTS_USED = expression(
    r"\b(?:what|which|how|que|cuant[oa]s?|cual(?:es)?)\b.{0,20}\b(?:costs?|fees?|commissions?|costes?|comision(?:es)?|"
    r"assum\w+|supuest\w+|supones)\b"
)
"""Asks what a trial of a rule took the costs to be."""
OF_TWO = expression(r"\b(?:of|de) (?:the|these|those|l[oa]s|es[oa]s|est[oa]s) (?:two|dos|2)\b")
PLACE_IN_RANKING = expression(
    r"^\W*(?:(?:and|y|so|ok)\W+)*(?:who|which(?: one)?|cual|quien) (?:came|finished|ended(?: up)?|ranked|is|was|quedo|"
    r"acabo|termino|va|fue|es) (?:in |at |en )?(?:the |el |la )?(?:first|second|third|last|top|bottom|primer[oa]?|"
    r"segund[oa]|tercer[oa]?|ultim[oa]|cabeza|cola)(?: place| lugar| puesto| one)?\W*$"
)
"""Asks for a place of the ranking that was just told."""
WHEN_WAS_IT = expression(
    r"^\W*(?:(?:and|y|so)\W+)*(?:(?:when|what day|on (?:what|which) day) (?:was|did|is) "
    r"(?:that|it|this)(?: happen| be)?|"
    r"(?:cuando|(?:en )?que dia) (?:fue|paso|ocurrio|es)(?: eso| esto)?)\W*$"
)
"""Asks for the day of what was just told."""
THE_ONE_BEFORE = expression(
    r"^\W*(?:(?:and|y|e|what about|how about|que tal)\W+)+(?:(?:the|la|el|in the|en la|en el)\W+)?"
    r"(?:last|previous|prior|pasad[oa]|anterior|one before)(?: one)?\W*$"
)
"""The week, month, … before this one."""
OF_HOURS = expression(r"\b(?:opens?|opened|opening|abr(?:e|en|io|ira)|abiert\w+|apertura)\b")
"""Asks about the market's hours, of which no question about tickers is the beginning."""
CURRENT = expression(rf"\b(?:this|est[ae]|lo que va del?|so far this) {UNIT}\b")
"""The current week, month, …"""
ADDS = expression(
    r"\b(?:add|include|throw in|anad\w+|agreg\w+|incluy\w+|mete\w*)\b.*\b(?:comparison|comparacion|comparativa)\b"
)
"""Adds tickers to a comparison."""
