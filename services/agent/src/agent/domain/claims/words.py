"""Words that a sentence about markets may contain without claiming anything, in Spanish and English.

A sentence with any other word says something that no figure can prove ("IBM's CEO resigned"), unless a tool returned
that word in a text such as a headline.
"""

_EN = """
a an the this that these those it its it's they their them he she we our us i you your my me there here one ones
is are was were be been being has have had do does did can could may might shall would will not n't no
and or but nor so yet as at by for from in into of on part onto to with without within over under up down out off about
after before between against during through throughout across per via than then when while whereas where which who
what how why if although though since until both all each every either neither respectively also too only
just still again already even more most less least much many few several some any other others another same
beside such enough very slightly somewhat well far quite
rather nearly almost roughly approximately around exactly
first second third last latest recent recently previous past next current currently now today yesterday
figure figures data number numbers value values level levels result results report reports reported reporting
summary overview analysis answer question comparison compared comparing compare comparable side
ticker tickers stock stocks share shares company companies name names market markets index fund funds crypto
investor investors security securities asset assets instrument instruments line group set peer peers pair
day days week weeks month months quarter quarters year years session sessions period periods time times date dates
window history long-term short-term term daily weekly monthly yearly annual annualised annualized trading calendar
historical full whole entire rest half-year start started end ended ending beginning begins began mid close closed
closes closing open opened opens opening
price prices priced return returns returned total simple moving average averages mean median
volatility volatile risk risky risks drawdown drawdowns peak peaks trough bottom top maximum minimum max min
momentum trend trends range ranges band bands signal basis measure measured measures indicator indicators
fundamental fundamentals valuation valued earnings dividend dividends margin margins revenue sales income profit
cap capitalisation capitalization ratio multiple multiples yield currency dollar dollars usd eur gbp unit units
percent percentage cent points point
show shows showed shown showing stand stands stood standing sit sits sat remain remains remained stay stays stayed
give gives gave given say says said see seen know known means meant include includes included including
cover covers covered covering hold holds held holding put puts take takes taken make makes made making come comes came
go goes went reach reaches reached stretch run runs ran look looks looked looking back recorded
cross crosses crossed crossing crossings
register registered post posts posted deliver delivered delivers mark marks marked saw
trade trades traded quote quotes quoted
amount amounts amounted equal equals equalled correspond corresponds corresponding ranged ranging
expect expects expected confirmed scheduled due announced available unavailable missing unknown counted count
ignoring excluding excludes exclude adjusted split splits split-adjusted unadjusted based according source sources
note notes noted limitation limitations disclaimer information informational advice financial
sample live as-of provided provide provides please overall meanwhile however moreover furthermore additionally
instead finally lastly therefore thus hence namely specifically particular relative relatively terms regard regarding
respect case cases likewise similarly similar different difference differences turn
high higher highest low lower lowest large larger largest big bigger biggest small smaller smallest great greater
greatest best better worst worse strong stronger strongest weak weaker weakest deep deeper deepest mild milder
closer short shorter long longer
worth itself themselves calm calmer calmest rough
fiscal full-year to-date usual normal typical unusual unusually
s published publish it'd would've let's here's yes
modest heavy steep sharp slight narrow suffered theirs pay pays paid trailing key takeaways
near golden death crossover headline headlines news score oversold overbought identical despite followed picture metric
ago sitting edged inched ticked nudged crept tend tends tended shade hair touch whisker cents turned rule
setback setbacks slide pullback slump notch bit link single touched lasted longest winning losing shareholders holders
strategy strategies costs finished hit late lot keep mind business businesses coefficient dataset nothing nada
contrast whose formed forms hand sum wise risk-wise valuation-wise perspective standpoint front occurred
occurs threshold reading reads read lie lies changed hands dwarf dwarfs ground having
pack cohort quartet trio duo field crowd league leader leaders cushion buffer headroom premium discount
half first-half second-half midpoint middle extent degree scale size sizes
bearing bear keeping remember remembered little alone tell tells told telling speak speaks
snapshot
recommendation recommendations suit suits suited depend depends depending goal goals objective objectives horizon
appetite tolerance profile personal individual circumstances own constitute constitutes
construed purpose purposes paint paints portray portrays portrayed story tale together conclusion
conclude concludes concluding upshot message highlight highlights detail details detailed section
table below list listed ranking ranked rank ranks order ordered place placed places fourth fifth
perform performed performer performers performance experience experienced endured witness witnessed display displays
displayed exhibit exhibits exhibited enjoy enjoys enjoyed boast boasts boasted sport sports account accounts
accounted shed sheds shedding heaviest lightest busiest quietest lasting stake stakes season starts follow follows
work works worked translate translates translated add adds limit limits limited
contain contained narrowed widen widened change span spans spanned spent swing swings swung
notched rack racked clock clocked chalk chalked secure secured earn earned
versus alongside apart amongst among besides
thanks reader readers asked above
early earlier later
generated generates generate brought brings bring booked books pulled pulls offers offer offered
carries carry carried commands command logged logs produced produces took pairs positions pecking
"""
_ES = """
el la los las lo un una unos unas al del de en con sin por para sobre entre hasta desde segun tras ante bajo durante
junto y e o u ni pero sino aunque que quien cual cuales cuyo cuya donde cuando como cuanto mientras si tambien ademas
solo solamente apenas muy mas menos mucho mucha muchos muchas poco poca algo casi aproximadamente alrededor cerca
exactamente asi ya aun todavia ahora hoy ayer luego despues antes
este esta estos estas ese esa esos esas aquel aquella su sus mi mis tu tus se le les te nos yo ella ellos ellas ello
es son era eran fue fueron ser sido siendo estan estaba estaban estuvo estuvieron estar estado
ha han habia hay haber hubo tiene tienen tenia tenian tuvo tuvieron tener
cada todo toda todos todas ambos ambas dos uno otro otra otros otras mismo misma mismos mismas respectivamente
ningun ninguna ninguno alguno alguna algun
primero primera segundo segunda tercero tercera ultimo ultima ultimos ultimas reciente recientes recientemente anterior
anteriores pasado pasada pasados pasadas proximo proxima proximos proximas siguiente siguientes actual actuales
actualmente
cifra cifras dato datos numero numeros valor valores nivel niveles resultado resultados informe informes informa
informo publicado publicados publicada publicadas publica publico publicaron
resumen panorama analisis respuesta pregunta comparacion comparado comparada comparados comparadas comparativa
comparar compara frente respecto relacion
simbolo simbolos accion acciones titulo titulos empresa empresas compania companias nombre mercado
mercados bolsa indice fondo fondos cripto activo activos inversor inversores grupo conjunto pareja lista
dia dias semana semanas mes meses trimestre trimestres semestre ano anos sesion sesiones suficiente suficientes
periodo periodos tiempo fecha
fechas plazo tramo ventana historia historico historicos historica historicas diario diaria diarios diarias semanal
semanales mensual mensuales anual anuales anualizada anualizado anualizadas interanual bursatil natural
completo completa entero entera resto principio comienzo inicio final fin cierre cierres cierra cierran cerro cerraron
cerrar apertura abrio abre
precio precios cotizacion cotizaciones rentabilidad rentabilidades rendimiento rendimientos variacion variaciones
volatilidad riesgo riesgos caida caidas pico maximo maxima maximos minimo minima minimos media medias movil moviles
promedio tendencia rango rangos banda bandas senal base medida indicador indicadores
fundamentales valoracion beneficio beneficios dividendo dividendos margen margenes ingresos ventas
capitalizacion multiplo moneda dolar dolares unidad unidades
ciento porcentaje porcentual porcentuales puntos punto
muestra muestran mostro mostraron situa situan situo sitio queda quedan quedo quedaron mantiene mantuvo permanece
da dan dio dieron dice dicen dijo ve ven vio consta constan conoce conocen significa incluye incluyen incluidos
incluidas
incluyendo cubre cubren alcanza alcanzo alcanzan llega llego llegan va van iba viene vienen vino hace hacen hizo
hicieron pone poner marca marco registra registro registraron presenta presento presentan ofrece ofrecio anota anoto
paso pasa pasan pasaron pasar
cotiza cotizan cotizaba negocia negocian negocio supone supuso equivale corresponde corresponden correspondiente
espera esperan esperados esperadas esperada esperado previsto previstos prevista previstas confirmado confirmados
confirmada confirmadas programado programados disponible disponibles falta faltan desconocido desconocida contar cuenta
contados ajustado ajustada ajustados ajustadas excluye excluidos basado basada basados
fuente fuentes nota notas limitacion limitaciones aviso informacion consejo asesoramiento financiero financiera
vivo proporcionado proporcionados general embargo obstante asimismo finalmente tanto decir
concreto concretamente relativo relativa relativamente terminos caso casos igual igualmente
similares distinto distinta distintos distintas diferencia diferencias vez veces
alto alta altos altas baja bajos bajas grande grandes pequeno pequena mejor mejores peor peores mayor mayores menor
menores fuerte fuertes debil debiles profundo profunda leve tranquilo tranquila
superior superiores inferior inferiores
desempeno comportamiento evolucion movimiento movimientos habitual inusual
billon billones mil millon millones
ejercicio contra torno
ligera ligero duro dura duros duras destaca destacan acumula acumulan logra logran sufre sufren sufrio paga pagan
reparte reparten publicar comienzos unica unico unicas unicos suya suyas corto largo
cortos largos multiplos titular titulares noticias puntuacion sobreventa sobrecompra zona repartio dorado muerte
valia cruce cruzo metrica bastante encuentra encuentran dispone acaba acaban acerca acercan aproximado
elevada elevado elevadas elevados distancia mueve mueven contando identico identica
facturo factura facturan facturaron facturado ingreso ingresa genero genera generan generaron obtuvo obtiene obtienen
arroja arrojan arrojo luce roza rozan ronda rondan cambio lado suma definitiva parte umbral lectura
contrario principios cabe destacar habria habrian terminado acabo acabaron rojos seguido seguida seguidos seguidas
siguen sigue ocurrio produjo jornada jornadas termina terminan termino terminaron toco tocaron mediados finales
encadeno encadena encadenaron cruces dorados serian puesto puestos regla parecida parecido parecidas parecidos movido
cuentas presente presenten propia propio claridad incluso presentacion iniciada iniciado estrategia estrategias
costes salto
peloton terreno neutral colchon prima descuento orden clasificacion clasificaciones posicion lugar
cuarto cuarta quinto quinta
conviene recordar recuerda recordemos tenga tengase advertir senalar subrayar anadir interpretar
interpretarse tomarse tomar debe deben deberse vendra vendran
recomendacion recomendaciones compra venta decision decisiones perfil perfiles objetivo objetivos horizonte
tolerancia depende dependen personales pequenos pequenas corta cortas
conclusiones modo manera forma sintesis balance foto fotografia retrato imagen ideas claves clave
detalle detalles tabla seccion apartado debajo arriba
sera seran ganador ganadora ganadores ganadoras ocupa ocupan figura figuran situado situada
vivio vivieron muestre estabilidad asciende ascienden pendiente pendientes
oscila oscilan oscilo oscilaron limito limitaron limita limitan
busca buscara buscaba encontro encontrara quisiera prefiera
sumando descontando anadiendo excluyendo teniendo costa
lider lideres integrantes miembros nombres protagonista protagonistas pulso apuesta
entretanto
"""
_OPINIONS = """
narrowly wide wider wafer-thin razor-thin hefty healthy impressive notable noteworthy remarkable respectable decent
comfortable considerable substantial significant meaningful marginal minor major moderate spectacular outstanding
stand-out standout solid subdued muted sizeable sizable ample broad broadly clear stark striking pronounced evident
apparent obvious important worthwhile useful helpful interesting cautious swift quick slow steady gradual sudden brief
prolonged
amplio amplia amplios amplias holgado holgada holgura notables destacado destacada destacados destacadas
considerables significativo significativa significativos significativas importante importantes moderado
moderada moderados moderadas modesto modesta modestos modestas discreto discreta discretos discretas abultado abultada
solido solida solidos solidas claro clara claros claras evidente evidentes escaso escasa escasos escasas
gran buen buena buenos buenas mal malo mala malos malas breve breves rapido rapida lento lenta
"""
OPINIONS = frozenset(_OPINIONS.split())
"""Judgements. Beside a claim they add nothing to check; alone they are a claim: "IBM had a healthy quarter"."""
PLAIN_WORDS = frozenset((_EN + _ES).split()) | OPINIONS
_COMPARING = """
higher greater larger bigger smaller lower superior superiores inferior inferiores mayor mayores menor menores
better worse best worst mejor mejores peor peores stronger weaker strongest weakest strong weak deeper milder
deepest mildest highest lowest largest smallest biggest greatest more most less least mas menos fuerte fuertes debil
debiles
"""
COMPARING = frozenset(_COMPARING.split())
"""Words of comparison. Outside a comparison that can be read, what they claim is unknown."""
_TALK = """
ceo cfo coo chairman board director directors resigned resigns merger merge merged acquire acquired acquires
acquisition takeover lawsuit sued fraud bankrupt bankruptcy layoffs fired hired appointed launched launches launch
product products deal contract buyback split upgraded downgraded downgrade upgrade rating target analysts analyst
guidance bloomberg reuters moody's s&p fitch investigation scandal default dimitio dimision dimite fusion adquirio
adquiere compro demanda fraude quiebra despidos lanzo lanza producto acuerdo contrato recompra rebajo mejoro
analistas objetivo consejero consejo presidente directiva rumor rumors rumores
"""
EVENT_WORDS = frozenset(_TALK.split())
"""Words of events. A chat sentence with one of them claims something even without a ticker."""
LEAD_PREFIXES = ("ahead", "behind", "por delante", "por detras")
"""Beginnings of comparisons that are about the figure named before."""
DIVIDEND_VERBS = frozenset(("pay", "pays", "paid", "paga", "pagan", "reparte", "reparten"))
"""Verbs that are used of dividends only."""
POSSESSIVES = frozenset(("theirs", "suya", "suyas"))
"""After "above" or "below": the average that the previous clause named."""
