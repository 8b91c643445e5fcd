"""What a chat says beside its figures: talk stays, events that nothing told go, whatever their words."""

import pytest

from agent.domain.claims.checker import ClaimChecker
from agent.domain.claims.facts import facts_of_results

PRICE = {
    "symbol": "IBM", "price": 202.91, "change": 2.08, "change_percent": 1.0357, "change_basis": "previous_close",
    "volume": 3_300_000, "currency": "USD", "source": "sample", "as_of": "2013-03-01T21:00:00Z",
}  # fmt: skip
TALK = """
Hello! How can I help you today?
Good morning, happy to help with that.
You're welcome!
Sure, I looked that up for you.
I checked the latest price and the news.
I have added IBM to your watchlist.
I've set the alert you asked for.
Your alert was created.
Your order was placed and is now pending.
Your order was cancelled.
The alert has been saved.
It has been added to your watchlist.
Done, it's been removed.
You asked about it yesterday.
You mentioned that you prefer short answers.
As we discussed, you wanted to wait.
The market was closed yesterday, so this is the last close.
The data was retrieved a moment ago.
These figures were taken from the sample source.
The exchange was closed for the holiday.
A stop-loss order is automatically executed once the price falls to your level.
A dividend is a payment that a company makes to its shareholders.
The P/E ratio compares the price with the earnings per share.
The RSI measures how strongly a price has moved lately.
Volatility means how much a price swings.
A moving average smooths out daily noise.
Diversified portfolios have historically been less risky.
Many investors sell when a stock has fallen a lot.
Companies often announce buybacks when they have spare cash.
A CEO change can move a stock.
When a company cuts its dividend, the price often drops.
Consider spreading purchases over time.
It may be worth waiting for the next earnings report.
I could not find any news about it.
No news was found for that day.
There were no results for that search.
I don't know why the price moved.
The reason for the move is not stated in the data.
It looks like a quiet day.
That said, one day's move tells little.
Past performance doesn't guarantee future results.
This is not financial advice.
Keep in mind that prices are delayed.
So far it has been a calm session.
Overall, a modest gain.
That is a small move.
In short, the stock gained about 1% and closed at 202.91.
It closed slightly higher than the day before.
The price ended the session at $202.91.
About 3.3 million shares changed hands.
I'll let you know when it gets there.
Let me know if you'd like to see a chart.
Would you like me to compare it with MSFT?
Feel free to ask about other stocks.
Here's a quick summary:
Based on the data I retrieved, here is what I can tell you.
I was unable to retrieve the order book.
Nothing has changed since then.
Thanks for waiting.
Great question!
¡Hola! ¿En qué puedo ayudarte hoy?
Con mucho gusto.
He consultado el precio y las noticias.
He añadido IBM a tu lista.
Tu alerta se ha creado correctamente.
La orden quedó pendiente.
Tu orden fue cancelada.
No he encontrado noticias sobre eso.
No se encontraron resultados.
El mercado estuvo cerrado ayer.
El RSI mide la fuerza de los movimientos recientes.
Un dividendo es un pago que una empresa hace a sus accionistas.
La volatilidad indica cuánto oscila un precio.
Conviene diversificar y no arriesgar más del dinero que puedas perder.
Muchos inversores venden cuando una acción ha caído mucho.
Esto no es asesoramiento financiero.
La acción terminó la sesión en 202,91 USD.
Subió un 1,04 % respecto al día anterior.
Dime si quieres que lo compare con otro valor.
Ha sido una sesión tranquila.
En resumen, subió ligeramente.
¿Quieres que lo guarde en tu lista?
Hi there, what would you like to know?
Glad that helped!
My pleasure.
Absolutely, one moment.
Sorry about that, I misread your question.
I pulled the latest figures.
I removed that entry from your list.
We talked about this earlier.
Your preferences have been updated.
The reminder was deleted.
The watchlist now contains three tickers.
Those numbers came from the sample feed.
The quote was delayed by fifteen minutes.
The session finished in positive territory.
The stock edged up by 1.04%.
It traded in a narrow range.
It bounced slightly.
The shares added 2.08 dollars.
Trading was calm.
Wall Street was closed because of the holiday.
A limit order lets you choose the price.
Market orders are executed immediately at the best available price.
An ETF is a basket of securities that trades like a stock.
Bollinger bands widen when volatility rises.
Short selling involves borrowing shares.
Beta compares how a stock moves with the market.
Bear markets have usually been followed by recoveries.
Stocks with high P/E ratios are considered expensive.
It's wise to diversify.
Never invest money you cannot afford to lose.
You might consider a smaller position.
Perhaps wait until earnings are published.
Unfortunately, I have no data about its management.
I couldn't retrieve the news this time.
The tool returned an error.
The price provider didn't respond.
There's nothing unusual in these figures.
It's hard to say what caused it.
One day alone doesn't make a trend.
On balance, a positive day.
Both prices and volumes are shown in USD.
Note that volume was 3.3 million shares.
Shall I keep an eye on it?
If you want, I can draw a chart.
Just tell me the level.
Hope this helps!
Have a nice day!
To summarise: up 1.04% at 202.91.
Let me break this down.
Compared with the previous close, that's a gain of 2.08.
As requested, I kept it short.
You currently hold no shares.
Buena pregunta.
De nada, aquí estoy.
Perdona, entendí mal la pregunta.
Busqué los datos más recientes.
Borré esa entrada de tu lista.
Se ha guardado tu preferencia.
Ya quedó cancelada.
La cotización lleva quince minutos de retraso.
La jornada acabó en positivo.
Una orden limitada te permite elegir el precio.
Las bandas de Bollinger se ensanchan cuando sube la volatilidad.
Nunca inviertas dinero que no puedas permitirte perder.
Quizá te convenga esperar a los resultados.
No tengo datos sobre su dirección.
La herramienta devolvió un error.
Un solo día no hace tendencia.
Avísame si necesitas algo más.
Espero que te sirva.
Me alegra ayudarte.
Como pediste, fui breve.
Based on the latest quote, IBM is trading at $202.91, which represents a gain of $2.08 (1.04%) from the prior close.
**IBM** — $202.91 (+1.04%)
The move came on volume of 3.3 million shares, so participation was solid.
Buyers were in control for most of the session.
Investors seemed optimistic.
I don't have information about what drove the move, so I'd suggest checking the news.
Momentum improved.
The market opened calmly and then drifted higher.
It gapped up at the open.
Sentiment has improved.
The trend looks constructive.
IBM ha cerrado la última sesión en 202,91 dólares, lo que supone una subida de 2,08 dólares (1,04 %).
El volumen fue de 3,3 millones de acciones.
Los compradores dominaron la sesión.
No dispongo de datos sobre las causas del movimiento.
El dato procede de la fuente «sample» y es del 1 de marzo de 2013.
The figure comes from our sample data, dated March 1, 2013.
The price was last updated on March 1, 2013.
That's the most recent data available.
"""
EVENTS = """
The shares have been delisted.
The CEO resigned.
The company was acquired last week.
The board approved a merger.
A fire destroyed its main plant.
Regulators opened an investigation.
Workers went on strike.
The firm laid off thousands of people.
Its founder left the company.
The chairman has stepped down.
It won a contract with the government.
The auditors found accounting irregularities.
Analysts upgraded the stock.
Hackers stole customer data.
The company is being sued by its suppliers.
It recalled its newest product.
A judge blocked the deal.
The dividend was cut.
The trading of the shares was suspended.
The company filed for bankruptcy.
It just launched a new chip.
The CFO is under investigation.
Warren Buffett bought a large stake.
The factory in Texas burned down.
El consejero delegado dimitió.
La empresa despidió a miles de empleados.
Los reguladores abrieron una investigación.
La compañía ha presentado concurso de acreedores.
Un incendio arrasó su fábrica.
La junta aprobó una fusión.
Han retirado del mercado su producto estrella.
El fundador ha vendido todas sus acciones.
La presidenta fue detenida.
The management team is leaving.
It is facing a lawsuit over patents.
Its largest customer walked away.
The government imposed tariffs.
The board has been dissolved.
Its chief executive died on Monday.
The two companies agreed to merge.
An earthquake damaged the headquarters.
Prosecutors charged the treasurer with fraud.
The union rejected the offer.
Thousands of employees were dismissed.
The co-founder cashed out.
Activist investors demanded changes.
The regulator fined the company.
Moody's lowered its rating.
A cyberattack paralysed the network.
Customers abandoned the platform.
Production was halted after an accident.
The patent expired.
Congress passed new rules for the sector.
It signed a partnership with a rival.
The shareholders voted against the plan.
The stock was delisted.
The plant in Ohio exploded.
Insiders dumped their shares.
The director general renunció ayer.
La fiscalía acusó al tesorero.
El sindicato convocó una huelga.
La fábrica cerró sus puertas.
Los accionistas rechazaron el plan.
La empresa fue multada por el regulador.
Un ciberataque paralizó su red.
Su principal cliente rompió el contrato.
Se anunció una fusión con un rival.
Firmó una alianza con un competidor.
El gobierno aprobó nuevas tasas.
Rumours of a takeover are spreading.
The company is going bankrupt.
"""


def judged(sentence: str) -> tuple[str, ...]:
    checker = ClaimChecker(facts_of_results([("get_price", PRICE)]), strict=False)
    assert not checker.reasons("IBM trades at USD 202.91.")
    return checker.reasons(sentence)


@pytest.mark.parametrize("sentence", TALK.strip().splitlines())
def test_talk_is_left_alone(sentence: str) -> None:
    assert judged(sentence) == ()


@pytest.mark.parametrize("sentence", EVENTS.strip().splitlines())
def test_an_event_that_nothing_told_goes(sentence: str) -> None:
    assert judged(sentence)
