"""Spanish and English words with a special role in ranking; all without accents, as `words.folded` returns them.

Written for this project from general grammar; no list was copied.
"""

from contracts import calendar_names


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH_STOP = _set(
    """
    a about above after again all also am an and any are as at be because been before being below between both but
    by can could d did do does doing down during each few for from further get getting got had has have having he
    her here hers hey hi him his how i if in into is it its just ll m many me more most much my myself no nor not
    now of off oh ok okay on once only or other our out over own re really s same she should so some such t than
    thank thanks that the their them then there these they this those through to too under until up us ve very was
    we were what when where which while who whom whose why will with would wow yeah yes you your yours don didn
    doesn isn wasn aren won wouldn couldn shouldn hasn haven hadn tell told said say
    """
)
SPANISH_STOP = _set(
    """
    a ah al algo alguna algunas alguno algunos ante aqui asi aun aunque cada como con contra cual cuales cuando
    cuanta cuantas cuanto cuantos de del desde donde dos e el ella ellas ellos en entonces entre era eran eres es
    esa esas ese eso esos esta estaba estado estan estar estas este esto estos estoy fue fueron gracias ha habia han
    has hasta hay he hola la las le les lo los mas me mi mis mucho muchos muy nada ni no nos nosotros nuestra
    nuestro o os otra otras otro otros para pero poco por porque pues que quien quienes se sea ser si sido sin sobre
    solo somos son soy su sus tambien te ti tiene tienen tengo todo todos tu tus un una unas uno unos usted va vale
    voy y ya yo dije dijiste
    """
)

ENGLISH_HINTS = _set(
    """
    the and is are was were of to with that this have has had what when where which who how did does do not my your
    you i it for from about would should could been they them his her she he we our
    """
)
SPANISH_HINTS = _set(
    """
    el la los las un una de del que y en con por para es son era fue mi mis tu tus su sus me te se lo le como cuando
    donde cual cuanto quien pero mas muy ya yo tengo tiene hay estoy esta este esto si al ahora siempre hoy quiero
    """
)
"""Words that reveal a text's language."""

_ENGLISH_FORMS = """
    be:being|buy:bought|sell:sold|think:thought|make:made|take:took,taken|see:saw,seen|come:came|give:gave,given
    find:found|know:knew,known|leave:left|feel:felt|bring:brought|begin:began,begun|keep:kept|hold:held
    write:wrote,written|meet:met|run:ran|pay:paid|speak:spoke,spoken|lose:lost|win:won|eat:ate,eaten|drive:drove,driven
    break:broke,broken|grow:grew,grown|teach:taught|catch:caught|choose:chose,chosen|fall:fell,fallen|build:built
    spend:spent|send:sent|sing:sang,sung|swim:swam,swum|ride:rode,ridden|wear:wore,worn|draw:drew,drawn|fly:flew,flown
    forget:forgot,forgotten|sleep:slept|hear:heard|become:became|learn:learnt|dream:dreamt|child:children|man:men
    woman:women|person:people|foot:feet|life:lives|wife:wives|go:went,gone|stand:stood|understand:understood|lead:led
    rise:rose,risen|lend:lent|mean:meant|deal:dealt|shoot:shot|fight:fought|throw:threw,thrown|stick:stuck|sit:sat
    steal:stole,stolen|hide:hid,hidden|wake:woke,woken|strike:struck|light:lit|shake:shook,shaken|freeze:froze,frozen
    tear:tore,torn|bear:bore,borne|dig:dug|feed:fed|seek:sought|tooth:teeth|mouse:mice|half:halves|analysis:analyses
    bite:bit,bitten|blow:blew,blown|bend:bent|hang:hung|swear:swore,sworn|ring:rang,rung|drink:drank,drunk|shrink:shrank
"""
_SPANISH_FORMS = """
    tener:tuve,tuvo,tuviste,tenia,tenemos,tenido|hacer:hice,hizo,hago,hiciste,hace,hecho|poder:pude,pudo,puedo,puede
    querer:quise,quiso,quiero,quiere,quieres|venir:vine,vino,vengo,viene|poner:puse,puso,pongo,pone,puesto
    saber:supe,supo,se|ver:vi,vio,visto,viste|perder:pierdo,pierde,pierden|cerrar:cierro,cierra,cierre
    invertir:invierto,invierte,invirtio,inverti,invertido|mover:muevo,mueve|preferir:prefiero,prefiere,prefieres
    empezar:empiezo,empieza,empece|recordar:recuerdo,recuerda,recuerdas|encontrar:encuentro,encuentra
    jugar:juego,juega,jugue|dormir:duermo,duerme,durmio|conseguir:consigo,consigue,consiguio
    seguir:sigo,sigue,siguio,segui|elegir:elijo,elige,eligio,elegi|sentir:siento,siente,sintio
    volver:vuelvo,vuelve,volvi,volvio,vuelto|mostrar:muestro,muestra|probar:pruebo,prueba,probe
    costar:cuesta,costo,cuestan|contar:cuento,cuenta,conte|entender:entiendo,entiende|pensar:pienso,piensa,pense
    dar:di,dio,doy,dado|ir:fui,fueron,iba,vamos|decir:dijo,digo,dice,dicho|traer:traje,trajo,traigo|caer:caigo,cayo
    subir:subio,subi|salir:salgo,salio,sali|vender:vendi,vendio|abrir:abri,abrio,abierto|escribir:escribi,escrito
    vivir:vivo,vivi,vive|morir:murio,muere,muerto|pedir:pido,pide,pedi,pidio|comenzar:comienzo,comienza,comence
    conocer:conozco,conoci|nacer:nacio,naci,nace|leer:lei,leyo,leo|aprender:aprendi|cumplir:cumplo,cumpli
    comprar:compre,compro,compras|operar:opere,opero,operas|ganar:gane,gano|cobrar:cobre,cobro|mudar:mude,mudo
    cambiar:cambie,cambio|trabajar:trabaje,trabajo|arriesgar:arriesgue,arriesgo|usar:use,uso|llegar:llegue,llego
    pagar:pague,pago|buscar:busque,busco|comer:comi,comio|correr:corri,corrio|viajar:viaje,viajo|llamar:llame,llamo
"""
_SAME = """
    buy purchase acquire = comprar compra adquirir
    sell = vender venta
    stock share equity = accion
    market = mercado
    price = precio
    risk = riesgo arriesgar
    loss lose = perdida perder
    profit gain earnings = ganancia beneficio ganar
    invest investment = invertir inversion
    broker = corredor broker
    money cash = dinero efectivo
    capital = capital
    savings save = ahorro ahorrar
    retirement pension retire = jubilacion jubilarse retiro pension
    fee commission = comision
    dividend = dividendo
    bond = bono
    strategy = estrategia
    position = posicion
    portfolio = cartera portafolio
    alert = alerta aviso
    trade operate = operar operacion
    trend = tendencia
    leverage = apalancamiento
    budget = presupuesto
    debt loan = deuda prestamo credito
    mortgage = hipoteca
    tax = impuesto
    salary wage paycheck = sueldo salario nomina
    rent = alquiler renta
    house home = casa hogar vivienda
    job work = trabajo trabajar empleo
    live move = vivir mudarse
    city town = ciudad
    country = pais
    family = familia
    child kid son daughter = hijo hija nino
    wife husband spouse partner = esposa esposo marido mujer pareja
    brother sister sibling = hermano hermana
    mother mom mum = madre mama
    father dad = padre papa
    friend = amigo amiga
    dog = perro
    cat = gato
    pet animal = mascota animal
    car = coche auto carro
    trip travel journey vacation holiday = viaje viajar vacaciones
    birthday = cumpleanos
    name = nombre llamarse
    age old = edad
    doctor physician = medico doctor
    school = escuela colegio
    university college = universidad
    book = libro
    movie film = pelicula
    music song = musica cancion
    food meal = comida
    language = idioma lengua
    short brief = corto breve
    long = largo
    weekly week = semana semanal
    monthly month = mes mensual
    daily day = dia diario
    morning = manana
    night evening = noche
    goal aim = objetivo meta
    fear afraid scared = miedo temor
    like love enjoy = gustar encantar
    prefer favorite favourite = preferir favorito preferido
    study = estudiar
    phone = telefono
    gold = oro
    oil = petroleo
    currency = divisa moneda
    dollar = dolar
    interest = interes
    inflation = inflacion
    account = cuenta
    bank = banco
    company = empresa compania
    order = orden
    news = noticia
    refund reimbursement reimburse = reembolso reembolsar devolucion devolver
    cancel cancellation unsubscribe terminate = cancelar cancelacion anular baja
    price cost rate tariff charge = precio coste costo tarifa cuesta costar cobrar
    free complimentary = gratis gratuito
    trial try = prueba probar
    discount rebate = descuento rebaja
    upgrade downgrade switch change = cambiar cambio mejora reduccion
    register registration signup enroll join account = registrarse registro inscribirse inscripcion alta cuenta
    hours opening schedule timetable open = horario apertura abrir abierto atender
    close closed closing = cerrar cerrado cierre
    telephone phone call contact = telefono llamar contacto
    email mail = correo
    address location located = direccion ubicacion
    delivery deliver shipping ship = entrega entregar envio enviar
    booking book reservation reserve appointment = reserva reservar cita
    warranty guarantee = garantia
    return = devolver devolucion
    invoice receipt bill = factura recibo
    payment pay = pago pagar
    card = tarjeta
    insurance insure = seguro asegurar
    weight weigh heavy = peso pesar
    expire expiry valid validity = caducar vencer vigencia valido
    breakdown broken break repair = averia averiado romper roto reparar reparacion
    hire rental lease = alquilar alquiler
    person human agent staff = persona humano agente personal
    include included contain = incluir incluido contener
    park parking = aparcar aparcamiento estacionamiento
"""

_SHORT = _set("jan feb apr jun jul aug sept oct nov dec")
"""Abbreviations of months, without "mar" and "may", which are words."""
MONTHS = {
    **calendar_names.MONTHS,
    **{word: calendar_names.MONTHS[name] for name in calendar_names.MONTHS for word in _SHORT if name.startswith(word)},
}
RECENCY_WORDS = _set(
    "last latest recent recently current currently now today ultimo ultima ultimos reciente actual ahora hoy"
)
"""Words by which a question asks for the newest."""
QUESTION_WORDS = _set("ask asked asking question questions pregunte pregunto preguntaba pregunta preguntas")
"""Words by which a question asks for questions."""
SPEAKER_WORDS = {
    "user": _set("i my me mine user customer yo mi mis usuario cliente"),
    "assistant": _set("you your assistant copilot tu te asistente copiloto recomendaste sugeriste"),
}
"""Words that name a speaker, by role."""


def _forms(table: str) -> dict[str, str]:
    return {
        form: base for entry in table.replace("\n", "|").split("|") if ":" in entry
        for base, forms in [entry.strip().split(":")] for form in forms.split(",")
    }  # fmt: skip


def _groups(table: str) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for line in table.strip().splitlines():
        members = tuple(line.replace("=", " ").split())
        for word in members:
            groups[word] = tuple(dict.fromkeys((*groups.get(word, ()), *members)))
    return groups


ENGLISH_BASE = _forms(_ENGLISH_FORMS)
SPANISH_BASE = _forms(_SPANISH_FORMS)
"""The base of irregular forms, which a stemmer does not find."""
SYNONYMS = _groups(_SAME)
"""For each word, others with much the same meaning, in either language."""
