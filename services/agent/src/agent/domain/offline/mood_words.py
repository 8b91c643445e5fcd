"""Patterns of thanks, complaints and of leaving it at that, in Spanish and English; texts are normalized."""

from contracts.expressions import expression

SHORT_TALK = 9
"""Maximum words of a message that may be only thanks."""
LONG_TALK = 14
"""Maximum words of a message that may be only a complaint."""
WANTS = expression(
    r"\b(?:what|how|when|where|who|which|why|can|could|would|want|need|que|cual|como|cuando|cuanto|cuanta|donde|quien|"
    r"puedo|puedes|quiero|necesito|busco|tengo|hay|buy|sell|compra|vende|cancel\w*|price|precio|and|pero|but)\b"
)
THANKFUL = expression(
    r"\b(?:thanks?|thx|ty|cheers|gracias|agradecid[oa]|merci|much appreciated|(?:you(?:\W?re| are)|that was|eres) "
    r"(?:\w+ )?(?:quick|fast|great|awesome|amazing|brilliant|clever|smart|funny|genial|rapid[oa]|list[oa]|crack))\b"
)
_WAIT = (
    r"(?:i ?['’]?(?:ll |will |can |m |am )?(?:just )?wait(?:ing)?(?: here| then)?|"
    r"(?:me |os |te |le |lo |la )?esper(?:o|are|amos)(?! que\b)(?: aqui| entonces| un rato)?|(?:me )?quedo a la espera)"
)
WAITS = expression(
    r"\W*(?:(?:ok|okay|vale|bueno|bien|de acuerdo|perfecto|fine|alright|all right|sure|yes|si|pues|entonces|thanks|"
    rf"gracias)\b\W*)*{_WAIT}\W*(?:(?:thanks|thank you|gracias)\W*)?"
)
"""Said by somebody who takes it that a person will come."""
SETTLED = expression(
    rf"\b(?:{_WAIT}|no hace falta(?= ?(?:$|[,.;!]|gracias|dejalo|ya|que os?))|no es necesario|"
    r"no (?:te|se|os) preocup\w+|no pasa nada|(?:me )?da igual|no importa|no (?:need|worries|problem)|"
    r"(?:don\W?t|do not) (?:bother|worry)(?: about it)?|not to worry|never ?mind|forget (?:about )?it|igualmente|"
    r"de todas formas)(?!\w)"
)
"""Says that nothing needs to be done now."""
UPSET = expression(
    r"\b(?:ridiculous|unacceptable|disgrace(?:ful)?|scammers?|rip\W?off|estafa(?:dor\w*)?|timo|timadores|"
    r"sinverguenzas?|ladrones|inaceptable|indignante|vergonzos[oa]|tomadura de pelo|impresentables?|"
    r"(?:this|it|that|you)(?:['’]?s|['’]?re| is| are) (?:such )?(?:an? )?(?:\w+ )?(?:joke|scam|robbery|shame)|"
    r"(?:est[oa]|eso) es (?:un |una )?(?:\w+ )?(?:robo|broma|chiste))\b|"
    r"\b(?:useless|stupid|idiots?|dumb|terrible|awful|horrible|"
    r"(?<!and the )worst(?! (?:\w+ )?(?:days?|weeks?|months?|quarters?|years?)\b)|"
    r"rubbish|crap|garbage|hopeless|disaster|pathetic|"
    r"inutil(?:es)?|tont[oa]s?|idiotas?|estupid[oa]s?|malisim[oa]s?|pesim[oa]s?|fatal|verguenza|desastre|mierda|asco|"
    r"basura|patetic[oa]s?|no (?:me )?(?:sirves?|ayudas?|entiendes|enteras)|not helpful|unhelpful|(?:don t|do not|dont|"
    r"didn t|not) understand(?:ing)? me)\b"
)
_ASKED_FOR = r"(?:pregunt|escrib|llam|dig|dij|pid|ped|intent|contact|explic)\w*"
WAITED = expression(
    r"\b(?:second|third|fourth|fifth|tenth|hundredth|umpteenth|\d+(?:nd|rd|th)) time (?:i|we|that i|asking|writing|"
    r"calling|telling)\b|"
    rf"\b(?:segunda|tercera|cuarta|quinta|enesima) vez que (?:(?:te|os|le|les|lo|la) )*{_ASKED_FOR}|"
    r"\b(?:i|we) (?:have |ve |am |m |are |re )?(?:still )?(?:been )?(?:waiting|waited|on hold|trying|calling|"
    r"writing) (?:for )?(?:\d+|an?|one|two|three|four|five|six|over|more|days|hours|weeks|months|since|all|so|ages)\b|"
    r"\bllev(?:o|amos) (?:\w+ ){1,4}(?:esperando|llamando|intentando|escribiendo|sin (?:respuesta|saber|noticias))\b|"
    r"(?<!s )(?<!is )(?<!are )\b(?:sigo|seguimos|still) (?:esperando|waiting|sin (?:respuesta|saber|noticias)|"
    r"no (?:answer|reply|response))\b|\b(?:nobody|no one|noone|nadie) (?:(?:me|nos|has|ha|ever|is) )*(?:answer|repl|"
    r"respon|contest|call|llam|cog|atiend|hac\w+ caso|pick)|\b(?:i|we) (?:have |ve )?already (?:told|asked|said|"
    r"explained|wrote)\b|\bi keep (?:asking|writing|calling)\b|\bya (?:(?:te|os|se|lo|le) )*(?:he|hemos|dije|pregunte|"
    r"explique|escribi|llame)\b(?=.*\b(?:veces|dije|dicho|preguntado|pregunte|explicado|explique)\b)|\b(?:not|wasn t|"
    r"isn t) what i (?:asked|said|meant)\b|"
    rf"\bno (?:es|era|fue) (?:eso |esto )?lo que (?:he |te |os |yo )*{_ASKED_FOR}|"
    r"\byou (?:didn t|didnt|did not|haven t|havent|never) answer|"
    r"\bno me (?:has|habeis|han) (?:contestado|respondido)\b"
)
"""Said by somebody who asked or waited in vain."""
_FAULT_EN = (
    r"(?:over|double |wrongly )?(?:charged|billed)|lost|broken?|forgot(?:ten)?|cancell?ed|damaged|ignored|cheated|lied|"
    r"deleted|sold|bought"
)
_DONE = r"(?:ad[oa]s?|aron|aste(?:is)?)"
_FAULT_ES = (
    rf"(?:cobr|carg|cancel|anul|estrope|dej|olvid|engan|borr|fall|ignor|tim){_DONE}|(?:perdi|rompi|menti)(?:do|eron|ste(?:is)?)|"
    rf"rot[oa]s?|(?:mand|envi|entreg|tra){_DONE}\b(?=.*\b(?:otr[oa]s?|mal|no era|equivocad[oa]s?|rot[oa]s?)\b)"
)
WRONGED = expression(
    r"\b(?:want|like|need|quiero|quisiera|queria) (?:to )?(?:complain|(?:make|file) a complaint|quejarme|"
    r"(?:poner|hacer) una queja)\b|"
    rf"\b(?:you|they|your \w+) (?:guys |have |ve |had |just |still |never )*"
    rf"(?:(?:{_FAULT_EN}) (?:me|us|it|my|our|to)\b|"
    r"(?:sent|delivered|gave|brought) (?:me |us )?the wrong\b)|"
    r"\b(?:i|we) (?:have been|ve been|was|were|got|am|m|are|re) (?:being )?(?:over|double |wrongly )?"
    r"(?:charged|billed) (?:twice|again|double|for|too|the wrong|\d)|"
    rf"(?<!se )\b(?:me|nos) (?:(?:habeis|has|han|ha) (?:vuelto a )?)?(?:{_FAULT_ES})\b"
)
"""Said by somebody to whom the company did something wrong."""
