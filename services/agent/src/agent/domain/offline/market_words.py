"""Patterns of questions about the market as a whole, in Spanish and English; texts are normalized.

These are the words for the market's hours, the shares that moved most, why one moved, and groups of shares.
"""

from agent.domain.analysis.market_state import MARKET_STATE
from agent.domain.offline.constraints import A_DAY
from contracts.calendar_names import MONTHS
from contracts.expressions import expression

MOVERS = expression(
    r"^(?!.*\b(?:my|mine|mis?|tengo|do i (?:have|own|hold)|them|of these|de estas)\b).*(?:"
    r"\b(?:biggest|top|largest|best|worst|mayor(?:es)?|mejor(?:es)?|peor(?:es)?)\b(?: \w+)? (?:movers?|gainers?|"
    r"losers?|performers?|stocks?|shares?|subidas?|bajadas?|caidas?|acci\w+|valor(?:es)?)\b|"
    r"\b(?:que|cual\w*|which|what|who\W?s?|quien)\b.{0,20}\b(?:mas (?:suben?|bajan?|caen?|ganan?|pierden?|han? "
    r"subido|han? bajado|se mueven?)|(?:suben?|bajan?|subio|subieron|bajo|bajaron|caen?|cayo|cayeron|ganan?|pierden?|"
    r"(?:han? )?(?:subido|bajado|caido|movido|ganado|perdido)) mas|"
    r"(?:up|down|mov\w+|rose|ris\w+|f[ae]ll\w*|gain\w*|lost|los\w+|drop\w*|jump\w*) (?:the )?(?:most|"
    r"biggest))\b|\btop \d+\b|"
    r"\b(?:cheapest|highest|lowest|safest|most \w+|mas \w+)\b.{0,20}\b(?:stocks?|shares?|companies|acciones|valores|"
    r"empresas)\b|\b(?:stocks?|shares?|companies|acciones|valores|empresas)\b.{0,25}\b(?:cheapest|highest|lowest|safest|"
    rf"(?:the|el|la|los|las) (?:most|mas|mejor|mayor)\b)|{MARKET_STATE.pattern})"
)
"""The shares that moved most, or have the most of something, among all there are, or how the market is doing."""
UNLISTED = expression(
    rf"{MOVERS.pattern}|^(?!.*\b(?:my|mine|mis?|tengo|them|of these|de estas)\b).*"
    r"\b(?:which|what|que|cuales)\b.{0,12}\b(?:stocks|shares|companies|tickers|symbols|etfs?|funds|crypto\w*|coins|"
    r"acciones|valores|empresas|simbolos|fondos|cripto\w*|monedas)\b"
    r".{0,20}\b(?:can|could|are|do you|puedo|podria|hay|ten\w+|se puede\w*|available)\b"
)
"""Questions that only a list of all shares could answer."""
ALL_SHARES = expression(
    r"\b(?:stocks?|shares?|compan\w+|acci\w+|valor(?:es)?|empresas?|markets?|mercados?|bolsa)\b|"
    r"\b(?:of|de|entre) (?:(?:the|all|las|los|tod[oa]s) )*(?:four|five|six|ten|cuatro|cinco|seis|diez|[4-9]|\d\d)\b"
)
"""About all shares, or about more than were mentioned."""
ALL_HELD = expression(
    r"\b(?:everything|all of (?:it|them)|the (?:whole )?market|markets|"
    r"my (?:\w+ )?(?:portfolio|stocks|shares|positions)|"
    r"todo|el mercado|la bolsa|mi cartera|mis (?:acciones|valores|posiciones))\b"
)
"""All positions, or the market as a whole."""
MOVED = expression(r"\b(?:moved?|moving|drove|caused|why|movio|mueve|por que|hizo (?:subir|bajar|caer))\b")
"""Why a share moved; the size of the move is part of the answer."""
MARKET = expression(
    r"\bcan (?:i|we|you) trade (?:on|this|tomorrow|today)\b(?! (?:\w+ ){0,2}(?:plan|account)\b)|"
    r"\bse (?:puede )?operar?\b|"
    r"\b(?:is|are|when|what time|hours|horario|does|do|esta|estan|abre|cierra|cuando|a que hora|"
    r"hasta)\b.*\b(?:markets?|mercados?|"
    r"bolsa|"
    r"wall street|nyse|nasdaq|(?:stock |the )exchange|trading hours)\b.*|"
    r"\b(?:next|proxima) (?:trading )?(?:session|sesion)\b|"
    r"\bhay (?:bolsa|mercado)\b|\b(?:market|exchange|mercado|bolsa)\b.*\b(?:hours|open|closed|shut|"
    r"horario|abiert\w|cerrad\w|abre|cierra)\b"
)
OPEN = expression(
    r"\b(can (?:i|we|you) trade(?= (?:on|this|tomorrow|today)\b(?! (?:\w+ ){0,2}(?:plan|account)\b))|"
    r"se (?:puede )?operar?\b|"
    r"hay (?:bolsa|mercado)|(?:next|proxima) (?:trading )?(?:session|sesion)|"
    r"open\w*|clos\w*|shut|hours|abr\w+|abiert\w+|cerr\w+|cierr\w+|horario)\b"
)
OPENS_WHEN = expression(
    r"\W*(?:(?:and|so|ok|y|entonces) )*(?:(?:until )?when|(?:at )?what time|(?:a|hasta) que hora|(?:hasta )?cuando)"
    r"(?: (?:does|do|will|it|they|is|que|se))* (?:open|opens|close|closes|abren?|cierran?|reabren?|reopens?)"
    r"(?: (?:again|now|today|otra vez|hoy))*\W*"
)
"""Asks when it opens or closes, whatever was named before; an open and a close are also prices."""
HOLIDAYS = expression(
    r"\b(?:half[- ]days?|early close|media (?:sesion|jornada)|"
    r"(?:next|upcoming|coming|market|exchange|trading|bank|public) (?:\w+ )?holidays?|"
    r"holidays? (?:\w+ ){0,3}?(?:coming(?: up)?|left|ahead|next|upcoming)|"
    r"(?:what|which|when|any|list) (?:\w+ ){0,4}?holidays?(?=\W*$| (?:is|are|there|this|next|until)\b)|"
    r"(?:proxim[oa]s?|siguientes?) (?:dias? )?festivos?|festivos (?:\w+ ){0,3}?(?:vienen|viene|quedan|hay|proxim\w+)|"
    r"festivos? (?:de|en) (?:la )?(?:bolsa|mercado)|(?:que|cuales|cuando) (?:\w+ ){0,4}?(?:dias? )?festivos?(?=\W*$)|"
    r"(?:what|which|que) (?:other )?(?:days|dias) (?:is|are|esta|will|cierra|no abre) (?:the |la |el )?"
    r"(?:market|exchange|bolsa|mercado)\b.{0,12}?(?:closed?|cerrad[oa]|$)|"
    r"(?:what|which|que) (?:days|dias) (?:does )?(?:the |la |el )?(?:market|exchange|bolsa|mercado)?\W*"
    r"(?:close|cierra|no abre)\b)"
)
"""The coming days without a session."""
SUPPORT_HOURS = expression(
    r"\b(?:you|your|support|office|someone|person|people|agent|team|help|soporte|oficina|atend\w+|atencion|persona|"
    r"equipo|ayuda|vosotros|ustedes)\b"
)
"""Words for hours other than the market's."""
ANOTHER_DAY = expression(
    rf"\b(?:tomorrow|holidays?|christmas|easter|manana|festivos?|navidad|nochebuena|semana santa|"
    rf"(?:{'|'.join(MONTHS)}) \d+|\d+(?:st|nd|rd|th)? (?:of |de )?(?:{'|'.join(MONTHS)}))\b|{A_DAY.pattern}"
)
"""A day that may not be today."""
_TRADE = (
    r"tech\w*|tecnolog\w+|bank\w*|banc\w+|energ\w+|oil|petrol\w+|chip|semiconduct\w+|pharma\w*|farmac\w+|electric\w+|"
    r"automo\w+|retail|growth|value|small ?cap|large ?cap|blue ?chip|crypto|european?|european|american|spanish"
)
GROUP = expression(
    rf"\b(?:{_TRADE}) (?:stocks?|shares|companies|names|sector|ones)\b|\b(?:las?|l[oa]s|el|the|big) (?:tech|techs|"
    r"tecnologicas|bancos|banca|banks|petroleras|electricas|farmaceuticas|chipmakers|faang|cryptos?|criptos?)"
    r"(?: (?:stocks?|shares|companies|names|sector))?\b|"
    rf"\b(?:acciones|valores|empresas|sector) (?:del? )?(?:el |la |las )?(?:{_TRADE})\b"
)
"""A line of business, without the symbols that are meant."""
OF_A_DAY = expression(
    r"\b(?:clos\w+|cerr\w+|cierre|opened|abrio|apertura|trad\w+|cotiz\w+|precios?|prices?|"
    r"finish\w*|high|low|a cuanto)\b"
)
"""Words for the price of a share on a day."""
SHARE_PRICE = expression(
    r"\b(?:trading at|quot\w+|cotiza\w*|a (?:cuanto|como) (?:esta|anda|va)|"
    r"up or down|sube o baja)\b"
)
"""Words for the price of a share and of nothing that a company sells."""
