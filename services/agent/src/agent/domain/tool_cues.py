"""The words by which people ask for the tools of the catalogue, in Spanish and English: beginnings of words without
accents."""

import re
from collections.abc import Mapping

_WORDS: Mapping[str, str] = {
    "get_price": (
        r"everything|todo|all (?:about|of)|whole|complet|price|precio|cotiz|quote|vale|worth|trading at|a cuanto|"
        r"cuanto esta|how much is|cost|cuesta|chang|cambi|hoy|today|now|ahora|subid|bajad|sube|baja|up|down"
    ),
    "get_ohlcv": (
        r"bars?|candle|vela|chart|grafic|plot|ohlc|open(?:ed|ing|s)?|apertura|abri|clos(?:e|ed|es|ing)|cierr|cerr|"
        r"highs?|lows?|maxim|minim|volum|intrad|yesterday|ayer|last (?:\w+ )?(?:days?|weeks?|sessions?|hours?)|"
        r"ultim\w+ (?:\w+ )?(?:dias?|semanas?|sesion\w*|horas?)|evoluci|histor"
    ),
    "get_indicators": (
        r"everything|todo|all (?:about|of)|whole|complet|rsi|macd|bollinger|bands?|bandas?|[se]ma|atr|vwap|obv|"
        r"adx|indica|overbought|oversold|sobrecompr|sobreven|medias? movil|moving averag|technic|tecnic|moment|"
        r"trend|tendenc|averages?|medias?|true range|rango verdadero"
    ),
    "get_fundamentals": (
        r"everything|todo|all (?:about|of)|whole|complet|fundament|p/?e|per|eps|bpa|revenue|ingres|factur|margin|"
        r"margen|market cap|capitaliz|earn|benefici|dividend|beta|valuat|valorac|ventas|sales|profit|yield|cheap|"
        r"expensive|barat|car[oa]s?"
    ),
    "market_snapshot": (
        r"return|rentab|perform|rendim|volat|drawdown|caid|compar|frente|vs|versus|mejor|peor|better|worse|"
        r"overview|resum|how (?:is|are|has|have|did)|como (?:va|van|esta|le)|risk|riesg|analy|analiz|year|ano|mes|"
        r"month|averages?|medias?"
    ),
    "get_performance": (
        r"cagr|annuali|anualiz|invest|inverti|hace|ago|since|desde|(?:in|from|to) (?:19|20)\d\d|"
        r"en (?:19|20)\d\d|between|entre|return|rentab|best|"
        r"worst|mejor|peor|rank|drawdown|caid|fell|fall|period|years?|anos?|months?|mes(?:es)?|q[1-4]|trimest|"
        r"quarter|january|february|march|april|may|june|july|august|september|october|november|december|enero|"
        r"febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|grown?|crec|gan[ao]|"
        r"perd"
    ),
    "get_correlation": (
        r"de la mano|in step|together|sincron|a la par|alike|en paralelo|correl|beta|move together|se mueven|"
        r"juntos|diversif|relat|relaci|depend"
    ),
    "get_crossings": (
        r"pass(?:ed)? (?:its|the)|(?:50|20|100|200)\D{0,12}(?:line|linea|averag|media)|cross|cruz|cruc|golden|"
        r"death"
    ),
    "backtest_strategy": (
        r"backtest|back-test|strateg|estrateg|rule|regla|buy and hold|comprar y mantener|simul|would (?:i )?have|"
        r"hubiera|habria"
    ),
    "fundamentals_events": (
        r"earning|result|dividend|event|calend|next|proxim|when|cuando|report|present|fundament|ex-date|upcoming"
    ),
    "get_news": (
        r"periodic|se cuenta|newspaper|papers|publish|published|publicad|everything|todo|news|notici|headline|"
        r"titular|happen|pasa|why|por que|press|prensa|dicen|article|articul"
    ),
    "get_sentiment": (
        r"ambient|atmosphere|vibe|buzz|tone|tono|headline|titular|news|notici|sentim|mood|animo|opini|positiv|"
        r"negativ|feel|think|piensa|optimis|pesimis|pessimis"
    ),
    "get_ml_signals": (
        r"predic|predec|forecast|pronost|signal|senal|ml|model|bullish|bearish|alcista|bajista|will|subira|bajara|"
        r"va a|outlook|probab|expect|espera|machine|future|futuro|tomorrow|manana|next week|proxima semana"
    ),
    "get_ml_features": (
        r"feature|caracter|importan|factor|drives?|driving|behind|detras|basa|based|weigh|pesa|why|por que|"
        r"variable|predic|signal|senal"
    ),
    "get_portfolio": (
        r"portfolio|cartera|positions?|posicion|hold|tengo|own|cash|efectivo|saldo|balance|equity|patrimon|"
        r"account|cuenta|my (?:shares|stocks)|mis acciones|ganan|perdid|profit|loss|money|dinero|buying power|"
        r"am i|voy|invertid"
    ),
    "get_trade_history": (
        r"trades?|operacion|histor|bought|compr(?:e|ado|as)|sold|vend(?:i|ido)|fill|ejecut|realiz|past|executed|"
        r"did i|hice|hecho"
    ),
    "create_paper_order": (
        r"get rid|unload|dump|offload|pick (?:me )?up|pick me|grab|shed|suelta|liquid|or better|o mejor|get me|"
        r"hazte|hazme|buy|bying|compra|compr[ae]|purchase|sell|vend|orders?|orden|limit|stop|acciones|shares|"
        r"short|pon|place|take profit|acquire|adquir|deshaz|close my"
    ),
    "cancel_paper_order": (r"cancel|anul|retir|withdraw|call off|orders?|orden"),
    "get_pending_orders": (
        r"qued\w* (?:por|sin|pend)|sin ejecut|unfilled|not filled|portfolio|cartera|pending|pendient|open orders?|"
        r"orden|orders?|wait|esper|abiert|live"
    ),
    "create_alert": (
        r"alarm|toque|heads.?up|tell me once|shout|mensaje|slides?|dips?|pierd|alert|avis|notif|"
        r"tell me (?:when|if)|let me know|llegue|reach|supere|cruce|ping|warn|when .* (?:hits|drops|falls|rises)|"
        r"cuando .* (?:baje|suba|pase|toque)|baje|suba"
    ),
    "list_alerts": (r"alarm|alert|avis"),
    "delete_alert": (r"alarm|alert|delet|borra|quita|remov|elimin|(?:un)?set"),
    "calculate_position_size": (
        r"position size|size|sizing|tamano|how many|cuant[ao]s (?:acciones|titulos|comprar|puedo)|risk|riesg|"
        r"arriesg|capital|stop"
    ),
    "calculate_risk_reward": (
        r"reward|recompens|ratio|target|objetiv|take.?profit|entry|entrada|stop|risk|riesg|r/r|rr|benefici|"
        r"break.?even"
    ),
    "get_watchlist": (r"eye on|ojo|pista|radar|watch|lista|segui|sigo|follow|favorit|vigil"),
    "add_to_watchlist": (
        r"eye on|ojo|pista|radar|watch|lista|segui|sigue|follow|favorit|vigil|add|anad|agreg|pon|track"
    ),
    "remove_from_watchlist": (
        r"eye on|ojo|pista|radar|watch|lista|segui|follow|favorit|vigil|remov|quita|elimin|borra|saca|"
        r"stop (?:watching|following)"
    ),
    "explain_concept": (
        r"don't (?:get|understand)|tell(?:s)? me what|no (?:entiendo|pillo)|clear up|aclar|ratio|"
        r"what (?:is|are|does|do)|whats|que (?:es|son|significa|quiere)|expla|explic|mean|signific|concept|"
        r"differen|diferenc|how (?:does|do)|como (?:funciona|se (?:calcula|interpreta|lee))|defin|understand|"
        r"entend|learn|aprend"
    ),
    "search_memory": (
        r"other day|otro dia|"
        r"(?:on|el) (?:monday|tuesday|wednesday|thursday|friday|lunes|martes|miercoles|jueves|viernes)|"
        r"did (?:you|we) |what did i|que me|talk(?:ed)? about|habl|rememb|recuerd|acuerd|earlier|before|antes|"
        r"last (?:time|week|month)|ultima vez|yesterday|ayer|we (?:said|talk|discuss)|hablamos|dij|said|told|"
        r"conversa|previous|anterior|mention|mencion|ask(?:ed)|pregunt"
    ),
    "remember": (
        r"presente|que sepas|know that|for the record|por cierto|rememb|recuerda|note|apunta|anota|soy|prefer|"
        r"prefier|me gusta|i am|i'm|i like|call me|llam|from now on|a partir de ahora|don't forget|no olvides|"
        r"keep in mind|ten en cuenta|always|siempre|never|nunca"
    ),
    "forget": (
        r"no quiero que recuerdes|recuerd|stop rememb|no longer|ya no|forget|olvid|delet|borra|erase|elimin|wip(?:e|"
        r"ing)|scratch"
    ),
    "update_memory": (
        r"correct|corrig|actualiz|updat|anymore|any more|no longer|ya no|instead|en lugar|changed|cambi|ahora|"
        r"actually|en realidad|wrong|mal"
    ),
    "fetch_page": (
        r"fees?|comision|tarif|charg|cobr|e-?mail|correo|baja|account|cuenta|people|team|equipo|person|who are|"
        r"quienes|newsletter|boletin|free|gratis|tenei?s|do you have|page|pagina|site|sitio|web|plans?|pric|preci|"
        r"cost|cuesta|contact|cancel|subscri|suscri|help|ayuda|support|soporte|refund|reembols|terms|condicion|"
        r"docs|url|http|how (?:do|can) i|como puedo|office|horari|hours|ship|envi|opening|login|contrasen|"
        r"password|feature|company|empresa|offer|ofrec"
    ),
    "search_knowledge": (
        r"fees?|comision|tarif|charg|cobr|e-?mail|correo|baja|account|cuenta|people|team|equipo|person|who are|"
        r"quienes|newsletter|boletin|free|gratis|tenei?s|do you have|page|pagina|site|sitio|web|plans?|pric|preci|"
        r"cost|cuesta|contact|cancel|subscri|suscri|help|ayuda|support|soporte|refund|reembols|terms|condicion|"
        r"docs|how (?:do|can) i|como puedo|office|horari|hours|ship|envi|polic|company|empresa|offer|ofrec"
    ),
}
_SHORT = re.compile(r"(?<![^|])[a-z]{1,3}(?![^|])")
"""A word so short is a whole one."""
CUES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(rf"\b(?:{_SHORT.sub(lambda short: short[0] + chr(92) + 'b', words)})")
    for name, words in _WORDS.items()
}
USUAL: Mapping[str, float] = {
    "get_price": 2.0,
    "market_snapshot": 1.4,
    "get_portfolio": 1.2,
    "get_fundamentals": 1.0,
    "get_news": 1.0,
    "search_knowledge": 1.0,
    "fetch_page": 1.0,
    "explain_concept": 0.9,
    "search_memory": 0.8,
    "create_paper_order": 0.7,
    "get_indicators": 0.6,
}
"""The tools that are shown when the words point to none."""
