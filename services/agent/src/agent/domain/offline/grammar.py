"""One table of the words that ask for each tool, and of the words that exclude it.

The first row that matches wins: "cancel my alert" is delete_alert, although list_alerts would match, too. Arguments are
read elsewhere, by the names in the tool's own schema (`slots`). Texts are normalized: lower case, no accents, with the
spelling of key words corrected.
"""

import re
from dataclasses import dataclass

from agent.domain.offline.changes import SHARE
from agent.domain.offline.conditions import OTHER_FIGURE
from agent.domain.offline.kinds import ORDINALS
from agent.domain.offline.order_words import A_PART, HABIT, TAKES_PROFIT, TAKES_SHARES
from agent.domain.offline.wishes import Way
from contracts.expressions import expression

_OWNER = r"\b(my|i|me|mi|mis|tengo|mine|our|our own)\b"
_ALERT = (
    r"^\W*(?:if|when|si|cuando)\b.*\b(?:let me know|tell me|remind me|dime|dimelo|recuerdame\w*)\b|"
    r"\b(alerts?|alertas?|alarma?s?|avisos?|remind me (?:when|if)|recuerdame (?:cuando|si)|"
    r"notify me|tell me (?:when|if)|let me know (?:when|if)|ping me|avisame|avisa|"
    r"(?:(?:give|drop|send|text|message|mail|warn|call) me|(?:da|manda|envia|haz|escribe|llama)me)\b.{0,20}"
    r"\b(?:when|if|once|cuando|si|en cuanto)|"
    r"avisar\w*|notificame|dime (?:cuando|si)|me avises)\b"
)
_DELETE = (
    r"\b(delete|remove|turn off|switch off|disable|desactiva\w*|cancel|erase|kill|drop|clear|scrap|bin|ditch|borra\w*|"
    r"elimina\w*|quita\w*|cancela\w*)\b"
)
_BUY_SELL = (
    rf"\b(buy|purchase|sell|{TAKES_SHARES}|orden de (?:compra|venta)|(?:long|short)(?= \d)|"
    r"compr(?:a|as|o|ar|ame|eme|es|en|eis|arme)|vend(?:e|es|o|er|eme|ame|ela|elas|as|an|ais|erme))\b"
)
_ADVICE = (
    r"\b(should i|shall i|when to|is it (?:good|wise)|is (?:\w+ ){1,3}an? (?:good|safe|bad|better)|"
    r"deberia|debo|conviene|cuando(?! (?:abr|baj|sub|cai|cay|llegu|est|toqu|valg|pas|super|cruc|romp))|"
    r"how (?:do|can|does|to)|did i|have i|como(?! (?:(?:el |un )?limite|maximo|minimo|mucho|stop))|"
    r"can i|could i|puedo|se puede|do you|what)\b|"
    r"\b(?:don'?t|do not|never|nunca|no) (?:(?:quiero|want to|voy a|need to) )?"
    r"(?:buy|sell|compr|vend)|\?|\b(?:buy|sell|compra|vende)\w* (?:or|o|y|and) "
)
BUDGET = r"[$€]?(?P<budget>\d(?:[\d.,]*\d)?k?)(?!\d| ?%)"
"""The amount of money that somebody would spend."""
_SELLING = r"dump|offload|liquidate|liquida|get rid of|deshazte de|deshacerme de|get (?:me )?out of|sacame de"
_ORDER = r"\b(orders?|orden(?:es)?|pedidos?)\b"
ORDERS = expression(_ORDER)


@dataclass(frozen=True, slots=True)
class ToolPhrase:
    """A tool and the words that ask for it. `about` is true if it needs a symbol; `way` says what has to be looked up
    first."""

    tool: str
    asks: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    about: bool = False
    way: Way = ""


def _row(tool: str, *asks: str, unless: str = "", about: bool = False, way: Way = "") -> ToolPhrase:
    """A row that matches if all patterns of `asks` are found."""
    every = "".join(f"(?=.*(?:{pattern}))" for pattern in asks)
    return ToolPhrase(tool, expression(every, re.DOTALL), expression(unless) if unless else None, about, way)


TABLE: tuple[ToolPhrase, ...] = (
    _row("calculate_risk_reward",
         r"\b(risk.{0,5}reward|reward.{0,5}risk|r/r|riesgo.{0,7}(?:beneficio|recompensa)|beneficio.{0,5}riesgo|"
         r"risk ratio)\b|"
         r"^(?=.*\bratio\b)(?=.*\b(?:stop|target|objetivo|take profit|exit|salgo|salida|vendo)\b)|"
         r"^(?!.*(?:\d ?%|\b(?:capital|account|cuenta)\b))(?=.*\brisk|.*\briesgo)(?=.*\bstop\D{0,20}\d)"
         r"(?=.*\b(?:target|objetivo|take profit)\D{0,20}\d)"),
    _row("get_price", r"\b(?:how (?:many|much)|cuant[oa]s?)\b.*\b(?:sell\w*|vend\w+)\b.*\b(?:get|raise|make|need|have|"
         rf"sac\w+|obten\w+|consegu\w+|tener|junt\w+)(?: me)? {BUDGET}", about=True, way="raised"),
    _row("get_price",
         r"\b(?:how many|how much\b.*\b(?:can|could|would|do)|what (?:would|could|can|do) i get|cuant[oa]s|"
         r"(?:cuanto|que)\b.*\b(?:puedo|podria|dan?|daria\w*))\b",
         rf"\b(?:for|with|con|por|para|compr\w+|buy|put|invest\w*|invert\w+|met\w+|p[ou][ns]\w*|(?:have|got|"
         rf"tengo)\b\D{{0,25}}) "
         rf"{BUDGET}",
         r"^(?!.*\b(?:per|each|cada)\b)",
         unless=r"\bstop\b|\brisk|\briesgo|\bentr(?:y|ada)\b|[%]", about=True, way="affordable"),
    _row("get_price", rf"^.*?(?<![\w.,]){BUDGET}(?! ?(?:years?|months?|weeks?|days?|anos?|mes|meses|semanas?|dias?)\b)",
         r"\b(?:worth|would (?:it|that|i)|hubiera|hubiese|habria|tendria|valdria\w*|serian?)\b",
         r"\b(?:ago|hace|back|since|desde|last|pasad[oa]|in (?:january|20\d\d)|en (?:enero|20\d\d))\b",
         unless=r"\b(?:rsi|averages?|medias?|cross\w*|cruces?|sma|monthly|weekly|mensual\w*|semanal\w*|"
                r"(?:an?|per|each|every|al?|por|cada) (?:day|week|month|quarter|year|dia|semana|mes|trimestre|ano)"
                r"(?! (?:ago|back|earlier)\b))\b",
         about=True, way="grown"),
    _row("get_price", r"\b(?:if|si|suppos\w+|supon\w*|imagin\w+)\b.*\b(?:drop|f[ae]ll|sink|los[et]|crash|ris(?!k)|rose|"
         r"climb|gain|jump|(?:goes?|went|is|was|were) (?:up|down)|cae|cai|cay|baj|sub|pierd|perd|desplom|gan)\w*\b"
         r"\D{0,20}\d[\d.,]* ?(?:%|per ?cent\b|por ?ciento\b)|"
         r"\b(?:if|si|suppos\w+|supon\w*|imagin\w+)\b.*\b(?:(?:go(?:es)?|went|gets?|got|drop\w*|"
         r"f[ae]ll\w*|ris(?!k)\w+|rose|climb\w*|jump\w*|sinks?|sank|sub\w+|baj\w+|ca[eiy]\w*|lleg\w+|vuelv\w+)"
         r"(?: (?:back|up|down))? (?:to|a|hasta)|hits?|reach\w*|touch\w*|toc\w+|alcan\w+) (?:los |the )?"
         r"[$€]?(?P<level>\d[\d.,]*)(?! ?(?:%|per ?cent|por ?ciento|shares|acciones))",
         r"\b(?:what|how|que|cuanto|would|could|suppos\w+|imagin\w+|supon\w*)\b|^\W*(?:(?:and|y|e)\W+)?(?:if|si)\b",
         unless=rf"{_ALERT}|{_BUY_SELL}|\b(?:stop|limite?|target|objetivo|entry|entrada|take profit)\b",
         about=True, way="if_moved"),
    _row("get_price", r"\b(?:how much|cuant[oa]|what)\b.*\b(?:left|remain\w*|qued\w+|sobr\w+|buying power|"
         r"poder de compra|cash|efectivo)\b",
         r"\b(?:if|after|si|tras|despues de|when)\b.{0,25}\b(?:buy\w*|bought|compr\w+)\b\D{0,12}(?P<count>\d[\d.,]*)",
         about=True, way="left"),
    _row("get_price", r"\b(?:how many|cuant[oa]s)\b.*\b(?:(?:would|can|could|will) (?:it|that|this|my \w+) (?:get|buy)|"
         r"(?:da|daria|alcanza)\b.{0,10}\b(?:eso|ello))\b|\b(?:afford|permitirme|me (?:alcanza|llega))\b|"
         r"\b(?:enough|suficiente|bastante)\b.{0,25}\b(?:for|to buy|para)\b|"
         r"\b(?:how (?:many|much)|cuant[oa]s?)\b.*\b(?:can i|could i|puedo|podria)\b.*"
         r"\b(?:max\w*|at most|with (?:my|what|all)|con (?:lo que|mi|todo))\b",
         unless=r"\b(?:plan|premium|pro|stop|risk|riesgo)\b", about=True, way="means"),
    _row("get_price", r"\b(?:how much|what (?=would|will|do)|cuant[oa])\b"
         r"(?!.*\b(?:risk|stop|alert\w*|ago|hace|if|capital|ratio)\b).*\b(?:would|"
         r"will|do|does|is|are|for|costs?|serian?|son|es|cuest\w+|costar\w+|valen?|valdr\w+|sal\w+)\b.{0,20}?"
         r"(?<![\w$€])(?P<count>\d[\d.,]*) (?!(?:day|week|month|year|hour|minute|session|dia|semana|mes|ano|hora|"
         r"minuto|sesion|dollar|euro|dolar|usd|eur|bucks|per|por|in\b|en\b|and\b|y\b|or\b|o\b)\w*)[a-z]+"
         r"(?:.*?\b(?:at|a) [$€]?(?P<each>\d[\d.,]*\d))?", about=True, way="part"),
    _row("get_price", r"^(?=.*\b(?:how much|what|cuanto)\b.*\b(?:pay|cost|owe|pagar\w*|cost\w+|saldria\w*|vald\w+|"
                      r"need)\b)"
         r".*\b(?:if|si|were to|comprar|to buy)\b.{0,20}?\b(?:buy|bought|get|compr\w+|buying)?\b\D{0,6}"
         r"(?P<count>\d[\d.,]*)(?P<each>)(?! ?(?:[$€%]|dollars?|dolares|euros?|usd))",
         unless=r"\b(?:stop|risk|ago|hace)\b", about=True, way="part"),
    _row("calculate_position_size",
         r"\b(position siz\w*|size of (?:the|my|a) (?:position|trade)|(?:big|large|size)\b.{0,20}\b(?:position|trade)\b"
         r"|how many shares(?! (?:\w+ ){0,3}(?:sell|did|get|own|left))|how much (?:should|can|could) i (?:buy|risk)|"
         r"(?:tamano|grande).{0,16}(?:posicion|operacion)|"
         r"cuant[ao]s (?:acciones|titulos)(?! (?:me|tengo|vend\w+|tendria que vender)\b))\b|"
         r"(?=.*(?:\d ?(?:%|per ?cent|por ?ciento)|\bhow (?:many|much|big)\b|\bcuant[oa]s?\b|"
         r"\b(?:risk|arriesg|riesgo)))"
         r"(?=.*\bstop\D{0,20}\d)"
         r"(?=.*(?:\b(?:risk|arriesg|riesgo)\w*\D{0,20}\d.*\bstop\D{0,20}\d|"
         r"\b(?:entry|buy\w*|enter\w*|entr\w+|compr\w+)\D{0,20}\d|\b(?:at|a) [$€]?\d))",
         unless=r"^\W*(?:\w+\W+){0,2}(?:put|set|place|add|pon\w*|coloca\w*|mete\w*)\b.{0,12}\bstop|"
         r"\b(i own|do i (?:have|own|hold)|tengo yo|traded|se (?:negoci|movi|intercambi)\w+|vol\w+)\b"),
    _row("delete_alert", _DELETE, r"\b(alerts?|alertas?|alarma?s?|avisos?)\b", way="delete_alert"),
    _row("create_alert", _ALERT, r"\d", about=True),
    _row("create_alert", r"\b(?:alert|notify|ping|warn|avisa(?:me)?|alerta(?:me)?|notificame)\b.*"
         r"\b(?:when|if|once|cuando|si)\b",
         OTHER_FIGURE.pattern, unless=r"\?", about=True),
    _row("create_alert", r"^\W*(?:\w+ ){0,3}(?:set|create|make|add|put|pon(?:me)?|crea(?:me)?|anade)\b.{0,20}"
         r"\b(?:alert|alerta|alarma)\b", unless=r"\?|\d|\b(?:how|como|no|not|don t|dont|always|siempre)\b", about=True),
    _row("list_alerts", r"\b(alert(?:s|ed)?|alertas?|alarma?s|avisos)\b",
         rf"{_OWNER}|\b(?:what|que|which|cuant[oa]s|how many) (?:alerts|alertas|avisos)\b|"
         r"\b(list\w*|show|see|which|active|activas|lista\w*|muestra\w*|ver|ensena\w*|cuales)\b|^\W*\w+\W*$",
         unless=r"\b(how(?! many)|como|work\w*|funcionan?|que es una|what is an|when|cuando)\b"),
    _row("cancel_paper_order", _DELETE,
         rf"{_ORDER}|\b(?:everything|all|todo)\b.*\b(?:open|pending|abierto|pendiente)\b",
         unless=r"\bhow\b|\bcomo\b", way="cancel"),
    _row("cancel_paper_order", r"^\W*(?:cancel|cancela|anula) (?:everything|all(?: of (?:it|them))?|todo)\W*$",
         way="cancel"),
    _row("cancel_paper_order", _DELETE, r"\b(?:the|my|that|el|mi|ese) (?:\w+ )?stop\b(?! loss)",
         unless=r"\d|\bhow\b|\bcomo\b", way="cancel"),
    _row("get_pending_orders", _ORDER,
         r"\b(pending|open|my|waiting|do i have|list|show|any|hanging|pendientes?|abiertas?|mis|tengo|en "
         r"espera|lista)\b",
         unless=r"\b(?:will|last|expire\w*|caduc\w*|duran?|what (?:happens|would happen)|"
         r"que (?:pasa|pasaria|ocurre))\b|\bhow\b(?! many)|\bcomo\b|\btypes?\b|\btipos?\b"),
    _row("get_pending_orders", r"^\W*(?:(?:and|y|the|las) )*(?:orders?|ordenes)\W*$"),
    _row("get_pending_orders", r"\b(?:what|which|que)\b.*\b(?:on order|en orden|ordenado)\b"),
    _row("get_trade_history", r"\b(trade history|my trades|past trades|order history|historial|mis operaciones|"
         r"operaciones pasadas|mis compras|mis ventas|(?:trades|orders) (?:did|have) i|"
         r"(?:did|have) i (?:do|done) (?:today|yesterday|(?:this|last) \w+)|"
         r"que (?:hice|he hecho) (?:hoy|ayer|est[ea] \w+)|"
         r"(?:did|have) i (?:\w+ )?(?:buy|sell|trade|bought|sold|traded)|me dieron|"
         r"(?:did|have) i (?:pa(?:y|id)|get filled)\b|^\W*(?:(?:and|y)\W+)?(?:a que precio|at what price)\W*$|"
         r"pag(?:ue|ado) por|a (?:cuanto|como|que precio) (?:l[oa]s? )?(?:he )?(?:compr|vend|entr)(?:e|i|ado|ido)|"
         r"acabo de (?:comprar|vender)|(?:everything|what|all) i(?:\W?ve| have)? (?:\w+ )?(?:bought|sold|traded)|"
         r"(?:last|latest|recent) (?:trades?|purchases?|sales?)\b(?! (?:price|day))|"
         r"(?:ultim|recient)\w* (?:operacion|compra|venta)(?:es|s)?|"
         r"operaciones (?:que )?(?:hice|he hecho|realice|tuve)|que (?:compre|vendi)\b|he (?:\w+ )?(?:comprado|"
         r"vendido|gastado|metido|invertido|puesto)|"
         r"(?:did|has|have) (?:(?:all )?(?:that|this|it)|they|those|these) cost me|"
         r"me (?:ha |han )?(?:costo|costado|costaron)|"
         r"have i spent|did i spend|(?:me )?gaste|my (?:last )?fills)\b",
         unless=r"\b(?:dic\w+|dij\w+|quier\w+|recom\w+|acons\w+|sugi\w+|pid\w+|espera\w*) que\b"),
    _row("get_trade_history", r"^\W*(?:i|we) (?:just |already )?(?:sold|bought)\b|^\W*(?:yo )?vendi\b",
         r"\?|\b(?:did|cuanto)\b", unless=r"\bif\b|\bsi\b|\bhow am i\b"),
    _row("get_trade_history", r"\b(?:that|the|this|my|last|esa|la|mi|ultima) (?:sales?|ventas?|trades?|operacion)\b",
         r"\b(?:ma[dk]e|earn\w*|lose|lost|profit\w*|gan\w+|perd\w+)\b", unless=r"\b(?:if|si|would)\b"),
    _row("get_trade_history", r"^\W*(?:(?:y|pero|entonces|cuanto)\W+)*(?:gane|perdi)(?: (?:algo|dinero))?\W*$"),
    _row("get_portfolio", r"^\W*(?:(?:hola|hi|hey|y|and|so)\W+)*(?:(?:cuanto|que) vale|how much(?:\W?s| is)|"
         r"what(?:\W?s| is)) (?:everything|all|todo)(?: (?:of it|worth|lo|que|tengo|i|ve|have|own|now|ahora))*\W*$|"
         r"\bhow (?:did|is|has) (?:that|the|my|this)(?: \w+)? (?:trade|order|purchase|sale|buy)\b|"
         r"\bcomo (?:fue|salio|quedo|va|ha ido) (?:esa|la|mi)(?: \w+)? (?:orden|compra|venta|operacion)\b|"
         r"\bwhat (?:has )?happened (?:to|with) my (?:trade|order|purchase|sale)\b|"
         r"\b(?:is|was|has) my (?:trade|order|purchase|sale) (?:been )?(?:filled|done|executed|through|completed)\b|"
         r"\bque (?:paso|ha pasado) con (?:la|mi) (?:orden|compra|venta|operacion)\b|"
         r"\b(?:se ha|esta|ha sido) (?:ejecutad|hech|realizad|completad)\w* (?:la|mi) "
         r"(?:orden|compra|venta|operacion)\b"),
    _row("get_portfolio", r"\b(?:which|cual\w*|what\w*)\b.{0,14}"
         r"\b(?:my|mis?|mine|(?:i|do i) (?:own|have|hold)|tengo)\b",
         r"\b(?:most|least|best|worst|biggest|mas|menos|mejor|peor|mayor|up|down|losing|winning|ganando|perdiendo)\b",
         unless=r"\b(?:alert\w*|orders?|orden\w*|plan)\b"),
    _row("get_portfolio", r"\b(?:if|si|were to|supposing|imagina)\b.{0,20}\b(?:sell|sold|vend\w+)\b.{0,12}"
         r"\b(?:my|mis?|all|everything|tod[oa]s?|it|them|l[oa]s?)\b",
         r"\b(?:how much|what|cuanto|que)\b.*\b(?:get|make|have|left|worth|be|end up|dan|dari\w+|sac\w+|tendri\w+|"
         r"quedari\w+|ganari\w+)\b",
         unless=r"\d"),
    _row("create_paper_order", SHARE.pattern, rf"\b(?:sell|venta|vend(?:e|er|o)(?:me)?(?:l[oa]s?)?|{_SELLING})\b|"
         r"^\W*(?:(?:ok|please|now|and|y|ahora|vale|pues)\W+)*(?:close|cierra\w*)\b",
         unless=_ADVICE, way="sell"),
    _row("create_paper_order", r"^\W*(?:an? |un )?stop(?:[ -]?loss)? (?:on|for|en|para|sobre) "
         r"(?:my|mis?|the|el|las?|los)\b", r"\d", unless=rf"{_ALERT}|\?", way="stop"),
    _row("create_paper_order", r"(?:^|[,;:] ?)(?:buy|sell|purchase|compra(?:r|me)?|vende(?:r|me)?) ?"
         r"(?:[,;:]|\W*$)", r"\d", unless=rf"{_ALERT}|\?", about=True),
    _row("create_paper_order", rf"^(?:[^\d?]{{0,20}})\b(?:{_SELLING}|close|exit|cierra|cerrar)\b"
         r".{0,25}\b(?:positions?|shares|stocks?|holdings?|posicion(?:es)?|acciones|titulos)\b",
         unless=_ADVICE, way="sell"),
    _row("create_paper_order", rf"\b(?:{_SELLING}) (?:all )?(?:of )?(?:(?:my|mis?|las|el|la)\b|"
         r"(?=\w)(?!(?:it|that|this|them|those|one|the other)\b))",
         unless=rf"{_ADVICE}|{_ALERT}|{_ORDER}|list", about=True, way="sell"),
    _row("create_paper_order",
         r"\b(?:put|set|place|add|protect|pon(?:me|le|l[oa])?|poner|coloca|anade|mete\w*|"
         r"protege\w*)\b.{0,25}\bstop\b", r"\d",
         unless=_ALERT, way="stop"),
    _row("create_paper_order", TAKES_PROFIT.pattern, r"\d", unless=rf"{_ALERT}|\?", way="stop"),
    _row("create_paper_order", rf"^(?:[^\d?]{{0,40}}){_BUY_SELL}", unless=f"{_ADVICE}|{_ALERT}|{HABIT}",
         about=True),
    _row("create_paper_order", r"\b(?:place|put in|enter|submit|make|draft|prepare|pon|poner|coloca\w*|mete|haz|"
                               r"(?:arm|prepar|lanz|mand|cre)a(?:me)?)\b.{0,25}\b"
         r"(?:order|orden)\b", r"\d", unless=_ALERT, about=True),
    _row("create_paper_order", r"\b(?:put|invest|invertir|invierte|mete|meter|pon)\b.{0,12}"
         rf"(?:\d|\b{A_PART}\b).{{0,25}}\b(?:in|into|en)\b(?! (?:the|a|my|la|una?|mi)\b)",
         unless=rf"{_ADVICE}|{_ALERT}|^\W*(?:what )?(?:if|si)\b.*\b(?:19|20)\d\d\b", about=True),
    _row("remove_from_watchlist", r"\b(remove|delete|unfollow|drop|take|stop (?:watch|follow|track)ing|quita\w*|"
         r"elimina|borra|dej[ae] de (?:seguir|vigilar)|saca\w*)\b",
         r"\b(watch ?list|lista|favou?rites|favorit[oa]s|unfollow|(?:watch|follow|track)ing|seguir|vigilar|"
         r"seguimiento)\b", about=True),
    _row("remove_from_watchlist", r"\b(?:take|drop|remove|delete|quita|saca)(?:me|l[oa])?\b.{0,20}\b(?:off|from "
         r"(?:it|there|that)|de (?:ahi|ella|la lista))\b", about=True),
    _row("add_to_watchlist", r"^\W*(?:and |y )?(?:add|put|agrega|anade|pon|mete)\b.*\b"
         r"(?:to it|to that|ahi|en ella|a ella)\W*$",
         unless=r"\d", about=True),
    _row("add_to_watchlist", r"\b(add|follow|put|save|track|keep|agreg\w+|anad\w+|sigue|seguir|pon\w*|mete\w*|"
         r"apunta\w*|guarda\w*|vigila\w*)\b",
         r"\b(watch ?list|my list|lista|favou?rites|favorit[oa]s|follow|track|an eye on|sigue|seguimiento|my radar|"
         r"vigila\w*)\b",
         about=True),
    _row("get_watchlist", r"\b(watch ?list|lista de seguimiento|en seguimiento|(?:am i|i am|i m) (?:watching|"
         r"following)|estoy siguiendo|que sigo|mi lista|(?:on|in|en) (?:the|my|that|this|la|es[at]a) lista?|"
         r"favou?rites|favorit[oa]s)\b"),
    _row("search_memory", r"\b(did we|what did you (?:say|tell me)|que me (?:dijiste|contaste)|"
         r"what did (?:we|i)(?! (?:just )?(?:do|get|order|place|set)\b)|"
         r"what (?:i|we) (?:had )?(?:told|said|mentioned|talked|"
                          r"discussed)|we talked|have i (?:told|said)|search (?:our|my)|hablamos|"
         r"que dijimos|que (?:te )?(?:dije|conte)|busca en (?:nuestras|mis))\b",
         unless=r"\b(?:forget|olvid\w+)\b"),
    _row("get_news", r"\b(?:what (?:has )?(?:moved|drove|caused|happened (?:to|with|at))|"
                     r"que (?:movio|hizo (?:subir|bajar|caer)|(?:le )?(?:paso|ha pasado) (?:a|con)))\b", about=True),
    _row("get_news", r"\b(?:why|por que)\b.*\b(?:up|down|mov\w+|fall\w*|fell|ris\w+|rose|drop\w*|jump\w*|crash\w*|"
         r"sub(?:e|io|ido|iendo)|baj(?:a|o|ado|ando)|ca(?:e|yo|ido|yendo))\b", about=True),
    _row("get_sentiment", r"\b(sentiment|mood|bullish|bearish|alcista|bajista|sentimiento|animo|opinion|"
         r"good or bad|bad or good|positive or negative|buen[oa]s? o mal[oa]s?|positiv[oa]s? o negativ[oa]s?)\b",
         about=True),
    _row("get_news", r"\b(news|headlines?|noticias?|titulares?|novedades|prensa|(?:in|by) the (?:press|media)|"
         r"(?:what|anything|something)(?:\W?s| is)? new|(?:algo|que hay de) nuevo|coverage|cobertura|"
         r"que se (?:dice|comenta|publica)|being (?:said|written) (?:about|of))\b", about=True),
    _row("fundamentals_events",
         r"\b(earnings? (?:date|day|call|release|report)s?|next (?:earnings|dividend|results)|report(?:s|ing)? (?:its "
         r"|their )?(?:earnings|results)|publi\w+.{0,20}resultados|present\w+.{0,20}resultados|proxim\w+ (?:resultados|"
         r"dividendo)|"
         r"(?:earnings|results|dividends?)\b.{0,12}\b(?:coming|upcoming|due|soon)|"
         r"(?:upcoming|coming) (?:earnings|results)|"
         r"fecha.{0,20}(?:resultados|dividendo))\b|\b(?:when|cuando)\b.*\b(earnings|results|dividend\w*|resultados|"
         r"report\w*)\b",
         about=True),
    _row("get_portfolio", r"\b(?:divid\w+)\b",
         r"\b(?:(?:have|did|do|has) (?:i|my \w+) (?:\w+ )?(?:get|got|receiv\w+|earn\w*|collect\w*|been paid|paid)|"
         r"i(?: ?ve| have)? (?:got|received|earned|collected|been paid)|paid me|my dividends|mis dividendos|"
         r"(?:he|hemos) (?:cobrado|recibido|ganado)|cobre|recibi|me han? (?:pagado|dado|abonado))\b"),
    _row("get_fundamentals",
         r"\b(fundamentals?|p/?e|per(?! (?:share|cent|hour|day|week|month|year|order|trade|person|user)s?\b)|"
         r"price[ -]to[ -]earnings|earnings|eps|"
         r"bpa|revenue|sales(?! (?:order|orders))|turnover|profitable|rentables?|(?<!i )(?<!we )(?:making|makes?|"
         r"made|earning) (?:any )?money(?! on)|"
         r"ganan? dinero|ventas|factura(?:n|do|cion)?|market cap|margins?|beta|dividend\w*|yield|cobrar(?:e|ia)|"
         r"fundamentales|beneficios?|ingresos|capitalizacion|margen(?:es)?|valuation|"
         r"(?:gan(?:a|o|an|aron)|earn(?:s|ed)?|ma(?:kes?|de))\b.{0,20}\b(?:por accion|(?:per|a) share)|"
         r"valoracion|(?:over|under)valued|(?:sobre|infra)valorad[oa])\b|"
         r"\b(?:which|cual)\b.{0,20}\b(?:cheaper|more expensive|mas (?:barat|car)[oa]|cheapest|most expensive)\b|"
         r"^\W*(?:and |y )?(?:is|are|esta) (?:it|they|the (?:stock|share)s?|la accion|\w+)? ?(?:cheap|expensive|"
         r"car[oa]|barat[oa])\b",
         unless=r"\b(?:day|session|week) (?:after|before)\b|\b(?:dia|sesion|semana) (?:despues|antes|siguiente)\b",
         about=True),
    _row("market_snapshot",
         r"\b(?:20|50|200)\W?(?:day|days|dias|d|sesiones|session|sessions)?\W*(?:simple )?(?:moving average|sma|ma|"
         r"media)\b|"
         r"\b(?:moving average|sma|media(?: movil)?)\b(?: simple)?(?: (?:de|of|over|last))* ?\(?(?:20|50|200)\b",
         about=True),
    _row("get_indicators",
         r"\b(overbought|oversold|sobrecompr\w+|sobrevend\w+|rsi|macd|bb|bollinger|sma|ema|atr|vwap|obv|adx|"
         r"indicators?|indicadores|moving average|media movil|rango (?:diario )?(?:medio|habitual|tipico)|"
         r"(?:typical|average|usual|normal) (?:daily )?(?:range|swing))\b", about=True),
    _row("get_ml_features", r"\b(features?|variables|caracteristicas|importanc\w+)\b", about=True),
    _row("get_ml_signals",
         r"\b(?:your|the|el|los|tus?|vuestros?) (?:\w+ )?mod(?:els?|elos?)\b|"
         r"\b(predictions?|predict|forecast|ml|signals?|prediccion(?:es)?|pronosticos?|senal(?:es)?|"
         r"prevision|outlook|subira|bajara|caera)\b|"
         r"\b(?:will|going|gonna|go|ir a|va a|van a|ira a)\b.{0,30}\b(?:up|down|rise|fall|drop|climb|subir|bajar|"
         r"caer)\b|\bwhat (?:will|would)\b.{0,20}\bdo\b.{0,20}\b(?:next|tomorrow)\b|"
         r"\b(?:pinta|expect\w*|esperas?)\b.{0,30}\b(?:tomorrow|next (?:week|days?)|manana|"
         r"(?:semana|dias?) que viene)\b",
         unless=r"\b(?:did|has|(?<!you )have|ha|han)\b", about=True),
    _row("get_ohlcv",
         r"\b(chart|graph|plot|draw|candles?|history|bars|grafic[oa]s?|dibuja(?:me)?|velas|evolucion|historico|"
         r"(?:hourly|daily|weekly|monthly) (?:clos(?:es|ing prices)|prices)|"
         r"(?:cierres|precios) (?:horari|diari|semanal|mensual)\w*)\b",
         about=True),
    _row("get_portfolio", r"\b(?:am i|have i been|i am|i m|estoy|voy|llevo)\b.{0,12}\b(?:up|down|winning|losing|making|"
         r"ganando|perdiendo|ganad[oa]|perdid[oa])\b.{0,12}\b(?:money|overall|dinero|total|so far)\b|"
         r"\bam i (?:up|down|winning|losing)\b|^\W*(?:(?:and|so|y|pues) )?(?:how am i doing|como voy|como me va)\W*$|"
         r"\b(?:he|hemos|llevo|voy) (?:ganado|perdido|ganando|perdiendo)\b|"
         r"\b(?:have|did) i (?:ma[dk]e|earn\w*|gain\w*|lost|lose)\b|"
         r"\bmy (?:total )?(?:profits?|loss(?:es)?|gains?|p ?[&/] ?l|pnl)\b|"
         r"\bmis? (?:ganancias?|perdidas?|plusvalias?)\b|"
         r"^\W*(?:y )?(?:cuanto )?(?:estoy )?(?:gano|pierdo|ganando|perdiendo)"
         r"(?: o (?:gano|pierdo|ganando|perdiendo))? (?:con|en)\b|"
         r"^\W*(?:(?:y|ahora|pero|entonces) )*cuanto (?:gano|pierdo|voy (?:gan|perd)\w+)"
         r"(?: o (?:gano|pierdo|\w+ndo))?\W*$",
         unless=r"\b(?:would|habria|hubiera|if|si)\b"),
    _row("get_correlation", r"\bcorrela\w+\b|"
         r"\bmoves? (?:\w+ )?(?:with|like|together|in (?:line|step|tandem)|along(?:side)?|the same way as)\b|"
         r"\b(?:se mueve|van?) (?:\w+ )?(?:con|como|igual|a la par|junt[oa]s?|de la mano)\b",
         unless=r"\bvan? con\b", about=True),
    _row("market_snapshot",
         r"\b(compar\w+|versus|vs|perform\w*|how (?:did|has)|returns?|drawdown|rendimiento|rentabilidad|moved?|"
         r"(?:has|have|had) been (?:\w+ )?(?:falling|rising|dropping|climbing|sliding|going (?:up|down))|"
         r"(?:est[ae]n?|viene|ha estado) (?:\w+ ){0,2}(?:cayendo|subiendo|bajando)|risky|arriesgad[oa]|"
         r"high and low|highs?|lows?|maximo|minimo|"
         r"(?<!\ba )como (?:le )?(?:fue|va|ha ido)|volatile?|volatil(?:es)?|volatilidad|rose|fell|climbed|"
         r"(?:went|gone) (?:up|down)|did .{1,25}\b(?:go|rise|fall|drop|climb|gain|lose)\b|"
         r"(?:which|who\W?s?|cual|quien)\b.{0,30}\b(?:up|down|sub\w+|baj\w+|cai\w+|cay\w+|gan\w+|perd\w+|ris\w+|rose|f[ae]ll\w*|"
         r"drop\w*|gain\w*|lost) (?:the )?(?:more|less|most|least|mas|menos)|"
         r"(?:which|cual)\b.{0,20}\b(?:better|worse|mejor|peor)|"
         r"(?:which|cual)\b.{0,20}\b(?:more|less|most|least|mas|menos) (?:risk\w*|riesgo|arriesgad[oa]|volat\w+)|"
         r"(?:ha )?(?:gan|perd|sub|baj|ca)(?:o|io|yo|ado|ido)|"
         r"lo que va de (?:ano|mes)|year to date|ytd|so far this (?:year|month)|"
         r"(?:last|past|this) (?:week|month|quarter|year)|(?:ultim[oa]|pasad[oa]|est[ea]) "
         r"(?:semana|mes|ano)|subido|bajado|gained|fallen)\b", about=True),
    _row("get_portfolio",
         r"\b(?:average|avg|mean|entry) (?:cost|price)\b|\bcost basis\b|"
         r"\b(?:precio|coste?|costo) (?:medio|promedio|de entrada)\b",
         _OWNER),
    _row("get_price",
         r"\b(prices?|precios|trading|trade|trades|quotes?|quoted|worth|stock|share|costs?|precio|"
         r"cotiza\w*|(?<=\w )valen?|"
         r"accion|acciones|cuestan?|(?:a|por) (?:cuanto|como)|(?:cuanto|como) (?:estan?|andan?|van?)|"
         r"how(?: much)? (?:is|are|s)|how\W?s|(?:going? on|happening|up) with|"
         r"que (?:le )?(?:esta )?pasa(?:ndo)? (?:con|a)\b|"
         r"(?:what|where)(?: is| was|\W?s)\b.{1,20}\bat\b|que tal|valor|going for|up or down|sube o baja|clos\w+|"
         r"finish(?:ed)?|"
         r"cerro|cierre)\b", unless=r"\b(?:what time|a que hora|what happens|que pasa(?:ria)? (?:si|cuando)|"
                                   r"(?:can|could|may) (?:i|we|you) (?:\w+ )?trade)\b",
         about=True),
    _row("get_portfolio",
         r"\b(portfolio|positions?|holdings?|cash|equity|what do i (?:own|hold|have(?! to))|"
         r"shares? do i (?:own|have|hold)|"
         r"do i own|my (?:stocks|shares|investments)|"
         r"cartera|portafolio|posicion(?:es)?|que tengo|efectivo|mis (?:acciones|inversiones|valores)|mi saldo)\b",
         _OWNER, unless=r"\b(should|deberia)\b"),
    _row("get_portfolio", r"\b(?:how much|what) (?:do|have) i (?:\w+ )?(?:have|got)\b(?: (?:to (?:spend|play with|"
                          r"invest)|in|on|left|here|now|available|"
         r"total))*\W*$|"
         r"\bcuanto (?:tengo|me queda)\b(?: (?:aqui|ahora|dentro|disponible|en total|todavia))*\W*$"),
    _row("get_portfolio", r"\b(?:how much|cuant[oa])\b.{0,12}\b(?:money|cash|dinero|efectivo|plata)\b.*\b(?:left|"
                          r"have|got|queda|tengo)\b"),
    _row("get_portfolio", r"\b(?:risk|exposure|riesgo|exposicion)\b", _OWNER,
         r"\b(?:now|current\w*|ahora|actual\w*)\b",
         unless=r"\d"),
    _row("get_portfolio", r"\b(?:whats?|what s|how much) (?:is )?(?:in|on) my account\b|\bque hay en mi cuenta\b|"
         r"^\W*(?:and |y )?(?:(?:how much|cuanto|in|en|de|my|mi|the|el) )?(?:cash|money|efectivo|dinero)\W*$"),
    _row("get_portfolio", r"\b(?:porcentaje|percent\w*|proportion|cuant[oa]s?|how (?:much|many))\b.{0,30}"
         r"\b(?:tengo|do i (?:have|own|hold)|have i got)\b|"
         r"\b(?:tengo|do i (?:have|own|hold)|have i got) (?:algo|algun\w*|any\w*|some)\b",
         unless=r"\b(?:tiempo|time|days?|dias|plazo|hours?|horas)\b", about=True),
    _row("get_portfolio", r"^\W*(portfolio|cartera|portafolio|posiciones|posis|positions|holdings|balance|saldo|equity|"
         r"buying power|p ?[&/] ?l|pnl)\W*$"),
)  # fmt: skip
TAKES_BACK = expression(
    r"^\W*+(?:(?:please|ok|and|no|ya no|nah|nope|wait|hold on|hmm|actually|sorry|y|mejor|pues|bueno|vale|espera|perdon|"
    r"por favor)\W++)*(?:"
    r"(?:delete|remove|cancel|erase|kill|drop|clear|bin|ditch|scrap|trash|get rid of) "
    r"(?:it|that|this|both(?: of them)?|"
    r"(?:all of )?them(?: all)?|the \w+(?: one)?|that one)|"
    r"undo(?: (?:it|that|this))?|take (?:it|that) back|deshaz(?:lo|la| (?:eso|esto))|"
    r"(?:borra|elimina|quita|cancela|anula)r?(?:me)?(?:l[oa]s?(?: tod[oa]s?| dos)?| l[oa]s dos| amb[oa]s|"
    rf"(?: (?:el|la|es[ea]|es[oa]s|eso|esto))(?: (?:{'|'.join(ORDINALS)}))?(?: de [\w.,]++)?)?)"
    r"(?:\W++(?:please|pl[sz]|thanks|thank you|gracias|por favor|porfa|mejor|again|then|entonces|actually|now|ya|"
    r"anda))*+\W*+$"
)
UNDOES = {
    "create_alert": "delete_alert",
    "list_alerts": "delete_alert",
    "create_paper_order": "cancel",
    "get_pending_orders": "cancel",
    "get_portfolio": "cancel",
    "add_to_watchlist": "remove_from_watchlist",
}
"""By the tool mentioned last: the way or tool that takes its effect back."""
