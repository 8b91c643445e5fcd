"""A made site of 300 pages in two languages: machines that differ in a few figures, shops in many towns, tables, long
handbooks, and rules. With a hundred questions whose page is known, and twenty that it does not answer.

Nothing of it is in any list of the code that is tested with it.
"""

import random
from dataclasses import dataclass, field
from typing import Literal

from contracts.knowledge import Block

Language = Literal["es", "en"]
SITE = "https://tornalba.example"
LANGUAGES: tuple[Language, Language] = ("es", "en")


@dataclass(frozen=True, slots=True)
class MadePage:
    """One page."""

    path: str
    language: Language
    title: str
    blocks: tuple[Block, ...]

    @property
    def url(self) -> str:
        """Its address."""
        return f"{SITE}{self.path}"


@dataclass(frozen=True, slots=True)
class Case:
    """A question: the page that answers it, and words that the answer must hold; no page: nothing on the site does."""

    question: str
    language: Language
    path: str | None = None
    holds: str = ""


@dataclass(slots=True)
class MadeSite:
    """The pages with the questions."""

    pages: list[MadePage] = field(default_factory=list[MadePage])
    cases: list[Case] = field(default_factory=list[Case])

    def page(self, path: str, language: Language, title: str, *blocks: Block) -> None:
        """One more page."""
        self.pages.append(MadePage(f"/{language}{path}", language, title, blocks))


def text(heading: str, *sentences: str) -> Block:
    """A paragraph under a heading."""
    return Block(headings=[heading] if heading else [], text=" ".join(sentences))


def table(heading: str, *rows: tuple[str, ...]) -> Block:
    """A table under a heading; the first row is its header."""
    return Block(kind="table", headings=[heading], rows=[list(row) for row in rows])


MACHINES: tuple[tuple[str, str, str], ...] = (
    ("hormigonera", "concrete mixer", "HM"),
    ("motobomba", "water pump", "MB"),
    ("andamio", "scaffold", "AN"),
    ("generador", "generator", "GN"),
    ("compactadora", "plate compactor", "CP"),
)
TOWNS = (
    "Almansa", "Béjar", "Calatayud", "Denia", "Écija", "Figueras", "Gandía", "Huesca",
    "Irún", "Jaca", "Linares", "Mérida", "Nájera", "Olot", "Plasencia", "Quesada",
    "Requena", "Soria", "Tudela", "Úbeda", "Vic", "Xátiva", "Yecla", "Zafra",
    "Astorga", "Baza", "Cieza", "Daroca", "Elda", "Fraga", "Guadix", "Haro",
    "Jumilla", "Lorca", "Manacor", "Nerja", "Onda", "Priego", "Reinosa", "Sagunto",
)  # fmt: skip
STREETS = ("Calle Mayor", "Avenida del Puerto", "Calle del Río", "Plaza Nueva", "Paseo de la Estación")


def made_site(seed: int = 7) -> MadeSite:
    """The same site for the same seed."""
    chance = random.Random(seed)
    site = MadeSite()
    _machines(site, chance)
    _shops(site, chance)
    _handbooks(site, chance)
    _rules(site)
    _traps(site)
    return site


def _machines(site: MadeSite, chance: random.Random) -> None:
    """Sixty machines a language, alike but for their figures."""
    for es, en, code in MACHINES:
        for step in range(12):
            model = f"{code}-{100 + 20 * step}"
            day, week, deposit = (
                chance.randint(18, 95),
                chance.randint(100, 420),
                chance.choice((50, 100, 150, 200, 300)),
            )
            weight, noise = chance.randint(20, 400), chance.randint(60, 99)
            path = f"/{code.lower()}/{model.lower()}"
            site.page(path, "es", f"Alquiler de {es} {model} · Tornalba",
                text(f"{es.capitalize()} {model}", f"La {es} {model} está pensada para obras de tamaño medio.",
                     "Se entrega revisada y con manual.", "La recogida se hace en cualquiera de nuestras tiendas."),
                table("Tarifas de alquiler", ("Periodo", "Precio"), ("1 día", f"{day} €"), ("1 semana", f"{week} €"),
                      ("Fianza", f"{deposit} €")),
                table("Ficha técnica", ("Dato", "Valor"), ("Peso", f"{weight} kg"), ("Ruido", f"{noise} dB"),
                      ("Consumo", f"{chance.randint(1, 9)},{chance.randint(0, 9)} l/h")),
            )  # fmt: skip
            site.page(path, "en", f"{en.capitalize()} {model} for hire · Tornalba",
                text(f"{en.capitalize()} {model}", f"The {en} {model} is made for medium-sized building work.",
                     "It is handed over checked and with its manual.", "You pick it up at any of our shops."),
                table("Hire rates", ("Period", "Price"), ("1 day", f"{day} €"), ("1 week", f"{week} €"),
                      ("Deposit", f"{deposit} €")),
                table("Data sheet", ("Item", "Value"), ("Weight", f"{weight} kg"), ("Noise", f"{noise} dB"),
                      ("Consumption", f"{chance.randint(1, 9)}.{chance.randint(0, 9)} l/h")),
            )  # fmt: skip
            asked: dict[int, tuple[tuple[Language, str, str], ...]] = {
                0: (("es", f"¿Cuánto pesa la {es} {model}?", f"{weight} kg"),
                    ("en", f"what is the deposit for the {en} {model}?", f"{deposit} €")),
                3: (("es", f"precio por semana de la {model}", f"{week} €"),
                    ("en", f"How much is the {model} for one day?", f"{day} €")),
                6: (("es", f"que fianza hay que dejar por la {es} {model.lower()}", f"{deposit} €"),
                    ("en", f"noise of the {model}", f"{noise} dB")),
                9: (("es", f"¿cuánto cuesta alquilar la {model} un día?", f"{day} €"),
                    ("en", f"{model} weight", f"{weight} kg")),
            }  # fmt: skip
            if code in ("HM", "MB", "GN"):
                asked[11] = (("es", f"ruido de la {model}", f"{noise} dB"),
                             ("en", f"weekly price of the {en} {model}", f"{week} €"),
                             ("en", f"what must I leave as a deposit for a {model}?", f"{deposit} €"),
                             ("es", f"¿qué peso tiene la {es} {model}?", f"{weight} kg"))  # fmt: skip
            cases = (Case(question, lang, f"/{lang}{path}", holds) for lang, question, holds in asked.get(step, ()))
            site.cases += cases


def _shops(site: MadeSite, chance: random.Random) -> None:
    """Forty shops a language."""
    for at, town in enumerate(TOWNS):
        street, number = STREETS[at % 5], chance.randint(1, 90)
        opens, closes = chance.choice(("7:30", "8:00", "8:30")), chance.choice(("18:00", "19:00", "19:30"))
        phone = f"9{chance.randint(10, 88)} {chance.randint(100, 999)} {chance.randint(100, 999)}"
        path = f"/tiendas/{at + 1}"
        site.page(path, "es", f"Tienda de {town} · Tornalba",
            text(f"Tornalba {town}", f"Nuestra tienda de {town} está en {street} {number}.",
                 "Tiene mostrador de alquiler y taller propio."),
            table("Horario", ("Día", "Abre", "Cierra"), ("Lunes a viernes", opens, closes),
                  ("Sábado", "9:00", "13:30"), ("Domingo", "cerrado", "cerrado")),
            text("Contacto", f"Teléfono: {phone}.", f"Correo: {at + 1}@tornalba.example."),
        )  # fmt: skip
        site.page(path, "en", f"{town} shop · Tornalba",
            text(f"Tornalba {town}", f"Our {town} shop is at {street} {number}.", "It has a hire desk and a workshop."),
            table("Opening hours", ("Day", "Opens", "Closes"), ("Monday to Friday", opens, closes),
                  ("Saturday", "9:00", "13:30"), ("Sunday", "closed", "closed")),
            text("Contact", f"Telephone: {phone}.", f"E-mail: {at + 1}@tornalba.example."),
        )  # fmt: skip
        asked: dict[int, tuple[Language, str, str]] = {
            0: ("es", f"¿a qué hora abre la tienda de {town}?", opens),
            1: ("en", f"What is the phone number of the {town} shop?", phone),
            2: ("es", f"direccion de la tienda de {town}", f"{street} {number}"),
            3: ("en", f"opening hours {town}", opens),
        }
        if at % 2 == 0:
            lang, question, holds = asked[at // 2 % 4]
            site.cases.append(Case(question, lang, f"/{lang}{path}", holds))


HANDBOOKS: tuple[tuple[str, str, str, str, str, str], ...] = (
    # es title, en title, es heading, es sentence, en heading, en sentence
    ("Manual del hormigón", "Concrete handbook", "Tiempo de amasado",
     "Amase el mortero durante cuatro minutos antes de verterlo.", "Mixing time",
     "Mix the mortar for four minutes before you pour it."),
    ("Manual de bombeo", "Pumping handbook", "Cebado", "Llene el cuerpo de la bomba con agua limpia antes de arrancar.",
     "Priming", "Fill the pump body with clean water before you start it."),
    ("Manual de andamios", "Scaffolding handbook", "Anclajes",
     "Coloque un anclaje cada ocho metros cuadrados de fachada.", "Anchors",
     "Fit one anchor for every eight square metres of wall."),
    ("Manual de generadores", "Generator handbook", "Puesta a tierra",
     "Clave la pica de tierra al menos sesenta centímetros.", "Earthing",
     "Drive the earth rod at least sixty centimetres deep."),
    ("Manual de compactación", "Compaction handbook", "Espesor de capa",
     "Compacte la grava en capas de quince centímetros.", "Layer thickness",
     "Compact gravel in layers of fifteen centimetres."),
    ("Manual de seguridad", "Safety handbook", "Ropa de trabajo",
     "Use botas con puntera de acero y guantes de nitrilo.", "Clothing",
     "Wear boots with steel toecaps and nitrile gloves."),
    ("Manual de invierno", "Winter handbook", "Heladas",
     "Vacíe los depósitos si se esperan menos de dos grados bajo cero.", "Frost",
     "Empty the tanks when less than two degrees below zero are expected."),
    ("Manual de transporte", "Transport handbook", "Remolques",
     "El remolque admite setecientos cincuenta kilos de carga.",
     "Trailers", "The trailer carries a load of seven hundred and fifty kilos."),
)  # fmt: skip
_FILL: dict[Language, tuple[str, ...]] = {
    "es": ("Revise el material al recibirlo y anote cualquier golpe.", "Guarde el embalaje hasta el final de la obra.",
           "Lea el apartado entero antes de empezar.", "El encargado debe conocer este procedimiento.",
           "Anote la fecha de cada revisión en la hoja de control.", "No retire las protecciones durante el uso."),
    "en": ("Check the material when it arrives and note any dent.", "Keep the packaging until the work is over.",
           "Read the whole section before you begin.", "The foreman must know this procedure.",
           "Write the date of every check on the control sheet.", "Do not take off the guards while it is in use."),
}  # fmt: skip


def _handbooks(site: MadeSite, chance: random.Random) -> None:
    """Long pages with one telling section among many."""
    questions: tuple[tuple[Language, str], ...] = (
        ("es", "¿cuánto tiempo hay que amasar el mortero?"), ("en", "how do I prime the pump?"),
        ("es", "cada cuantos metros va un anclaje"), ("en", "how deep must the earth rod go?"),
        ("es", "¿de qué grosor son las capas de grava?"), ("en", "which gloves and boots should I wear?"),
        ("es", "que hago con los depositos si hay heladas"), ("en", "What load can the trailer carry?"),
    )  # fmt: skip
    for at, (es_title, en_title, es_head, es_said, en_head, en_said) in enumerate(HANDBOOKS):
        for lang, title, head, said in (("es", es_title, es_head, es_said), ("en", en_title, en_head, en_said)):
            language: Language = "es" if lang == "es" else "en"
            word = "Apartado" if lang == "es" else "Section"
            blocks = [text(f"{word} {n}", *(chance.choice(_FILL[language]) for _ in range(14))) for n in range(1, 15)]
            blocks.insert(6 + at % 3, text(head, said, _FILL[language][at % 6]))
            site.page(f"/manuales/{at + 1}", language, f"{title} · Tornalba", *blocks)
        language, question = questions[at]
        said = es_said if language == "es" else en_said
        site.cases.append(Case(question, language, f"/{language}/manuales/{at + 1}", said))


RULES: tuple[tuple[str, str, str, str, str, str, tuple[tuple[Language, str], ...]], ...] = (
    ("devoluciones", "Devoluciones", "Puede devolver un artículo comprado en los 21 días siguientes, con el tique.",
     "Returns", "You may return a purchased item within 21 days, with the receipt.", "21",
     (("es", "¿puedo devolver algo que compré?"), ("en", "can I return an item I bought?"))),
    ("garantia", "Garantía", "Las máquinas nuevas tienen tres años de garantía y las usadas, uno.",
     "Warranty", "New machines have three years of warranty and used ones have one.", "",
     (("es", "cuantos años de garantia teneis"), ("en", "how long is the warranty?"))),
    ("entrega", "Entrega en obra", "Llevamos la máquina a su obra por 35 € dentro de un radio de 40 km.",
     "Delivery to site", "We take the machine to your site for 35 € within 40 km.", "35",
     (("es", "¿lleváis la máquina a la obra?"), ("en", "do you deliver, and what does it cost?"))),
    ("pago", "Formas de pago", "Aceptamos tarjeta, transferencia y efectivo hasta 1.000 €.",
     "Payment", "We accept cards, bank transfer and cash up to 1,000 €.", "1",
     (("es", "¿se puede pagar con tarjeta?"), ("en", "can I pay by bank transfer?"))),
    ("averias", "Averías", "Si una máquina se avería la cambiamos por otra en 24 horas sin coste.",
     "Breakdowns", "If a machine breaks down we replace it within 24 hours at no cost.", "24",
     (("es", "que pasa si se averia la maquina"), ("en", "what happens if the machine breaks down?"))),
    ("cancelar", "Anular una reserva", "Una reserva se anula gratis hasta dos días antes; después se cobra el 30 %.",
     "Cancelling a booking", "A booking is cancelled for free up to two days before; later 30 % is charged.", "30",
     (("es", "¿cómo anulo mi reserva?"), ("en", "can I cancel my booking for free?"))),
    ("empresas", "Cuenta de empresa", "Las empresas pagan a 60 días con una cuenta de cliente.",
     "Business account", "Companies pay within 60 days with a customer account.", "60",
     (("es", "a cuantos dias pagan las empresas"), ("en", "payment terms of a business account"))),
    ("cursos", "Cursos", "El curso de plataformas elevadoras dura 8 horas y cuesta 120 €.",
     "Courses", "The course on lifting platforms lasts 8 hours and costs 120 €.", "120",
     (("es", "¿cuánto cuesta el curso de plataformas?"), ("en", "how long does the lifting platform course last?"))),
    ("seguro", "Seguro de daños", "El seguro de daños cuesta el 9 % del alquiler y cubre golpes y robo.",
     "Damage insurance", "Damage insurance costs 9 % of the hire and covers knocks and theft.", "9",
     (("es", "¿el seguro cubre el robo?"), ("en", "what does the damage insurance cover?"))),
    ("puntos", "Club Tornalba", "Cada 10 € dan un punto; con 100 puntos hay un día de alquiler gratis.",
     "Tornalba Club", "Every 10 € give one point; 100 points are a day of hire for free.", "100",
     (("es", "como funcionan los puntos del club"), ("en", "how many points for a free day?"))),
)  # fmt: skip


def _rules(site: MadeSite) -> None:
    """Rules of the house, and pages that are about nothing that is asked."""
    for path, es_title, es_said, en_title, en_said, holds, asked in RULES:
        site.page(
            f"/{path}", "es", f"{es_title} · Tornalba", text(es_title, es_said, "Pregunte en su tienda si tiene dudas.")
        )
        site.page(f"/{path}", "en", f"{en_title} · Tornalba", text(en_title, en_said, "Ask at your shop if in doubt."))
        site.cases += [Case(question, lang, f"/{lang}/{path}", holds) for lang, question in asked]
    home = {"es": "Tornalba alquila y vende maquinaria de construcción desde 1974.",
            "en": "Tornalba hires out and sells building machinery since 1974."}  # fmt: skip
    for lang in LANGUAGES:
        site.page("/", lang, "Tornalba", text("", home[lang]))
    at = 0
    while len(site.pages) < 300:
        at += 1
        es, en = f"Noticia {at}", f"News {at}"
        fair = f"Estuvimos en la feria de maquinaria número {at}."
        site.page(f"/noticias/{at}", "es", f"{es} · Tornalba", text(es, fair, "Gracias a quienes vinieron."))
        fair = f"We were at machinery fair number {at}."
        site.page(f"/noticias/{at}", "en", f"{en} · Tornalba", text(en, fair, "Thanks to everyone who came."))


def _traps(site: MadeSite) -> None:
    asked: tuple[tuple[Language, str], ...] = (
        ("es", "¿cuánto cuesta alquilar la HM-990?"), ("en", "what is the deposit for the GN-555?"),
        ("es", "horario de la tienda de Burgos"), ("en", "phone number of the Toledo shop"),
        ("es", "¿alquiláis grúas torre?"), ("en", "do you hire out excavators?"),
        ("es", "¿aceptáis criptomonedas?"), ("en", "can I pay with PayPal?"),
        ("es", "¿quién es el director general?"), ("en", "who owns the company?"),
        ("es", "¿tenéis una aplicación para el móvil?"), ("en", "is there a student discount?"),
        ("es", "¿hacéis envíos a Portugal?"), ("en", "do you ship to France?"),
        ("es", "¿cuánto cobra un encargado?"), ("en", "are you hiring staff?"),
        ("es", "¿cuál es la capital de Mongolia?"), ("en", "what is the weather like tomorrow?"),
        ("es", "¿cuántos litros caben en la hormigonera HM-120?"), ("en", "what colour is the generator GN-160?"),
    )  # fmt: skip
    site.cases += [Case(question, lang) for lang, question in asked]
