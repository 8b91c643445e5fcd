"""Paraphrases, es and en: what is for talking or for the site, and no tool's."""

import pytest

from agent.domain import hand_over
from agent.domain.offline.answers import nobody_yet
from agent.domain.offline.assistant import respond
from agent.domain.offline.intents import wish_in
from agent.domain.offline.person_words import asks_for_person
from agent.domain.offline.small_talk import talk_only
from agent.domain.offline.step_results import SayText, UseTools
from agent.domain.offline.wishes import Intent
from agent.testing.offered import SCHEMAS
from agent.testing.passages import passage
from contracts.company import Assistant, CompanyConfig
from contracts.knowledge import KnowledgeFound

TALK: dict[Intent, list[str]] = {
    Intent.GREETING: [
        "buenas, una pregunta",
        "hi, can i ask a quick question?",
        "hi",
        "Hello there!",
        "good morning",
        "hola, buenas tardes",
        "Buenos días",
        "hey, how are you?",
        "¿qué tal?",
        "hola, soy lucía",
        "hello, I'm Tom Baker",
    ],
    Intent.THANKS: [
        "thnaks",
        "thanks",
        "thank you very much!",
        "muchas gracias",
        "ok, gracias",
        "perfecto, mil gracias",
        "great, thanks a lot",
        "gracias, muy amable",
        "thank you, very kind",
    ],
    Intent.ADDRESS: [
        "joe@example.com",
        "my mail is joe@example.com",
        "Sure, you can write to me at: joe.baker+shop@mail.example.co.uk",
        "mi correo es ana.lopez@example.es, gracias",
        "os dejo mi e-mail: ana@example.es",
        "ana@example.es (me podéis escribir aquí)",
    ],
    Intent.FAREWELL: ["bye", "hasta luego", "adiós, gracias", "goodbye and thanks", "see you later"],
    Intent.FINE: ["ok", "perfecto", "great", "no", "vale", "go ahead", "confirmo", "no, mejor no", "never mind"],
    Intent.HANDOFF: [
        "talk to a person",
        "I want to speak to a human please",
        "quiero hablar con alguien",
        "pásame con un agente",
        "can I chat with someone from support?",
        "agente",
        "I need a real person",
        "necesito un asesor",
        "quiero hablar con una perosna",
        "ponme con Beatriz",
        "¿puedo hablar con Beatriz?",
        "could I speak to Olga",
        "que me escriba Don Tomás",
        "put me through to Olga",
        "a person please, it's about invoice 4411",
        "I need a human: my order came broken",
        "somebody please - my card is refused",
        "I want an agent (the app does not open)",
        "could anybody from the shop get back to me?",
        "¿podría ponerse en contacto conmigo alguien de la tienda?",
        "human, please. my card was charged twice",
        "could somebody ring me?",
        "llamadme por favor",
        "quiero que me llaméis",
        "¿puedo hablar con la recepcionista?",
        "prefiero tratarlo con alguien de verdad",
        "páseme con su superior",
    ],
    Intent.STATED: [
        "I was born in Leeds",
        "I mostly invest in bonds",
        "I have two kids",
        "trabajo en un hospital",
        "tengo tres hijos",
        "My cat is called Nube",
        "mi perro se llama Trufa",
        "Remember that I am vegan. Also I have a peanut allergy",
    ],
    Intent.ABILITIES: ["what can you do?", "¿qué sabes hacer?", "who are you?", "help", "are you a robot?", "ayuda"],
    Intent.MARKET: [
        "is the market open?",
        "¿está abierto el mercado?",
        "when does the stock market open?",
        "market hours",
        "¿a qué hora cierra la bolsa?",
        "is Wall Street open today?",
    ],
    Intent.UPSET: ["this is rubbish", "no me entiendes", "sois malísimos"],
    Intent.WAITED: [
        "this is the third time I ask",
        "llevo tres días esperando",
        "nobody answers me",
        "ya os he escrito dos veces",
        "eso no es lo que he preguntado",
        "I've been waiting for two weeks",
        "that wasn't what I meant",
        "no era eso lo que preguntaba",
    ],
    Intent.WRONGED: [
        "you billed us twice in May",
        "I would like to complain to whoever runs this",
        "you sold my shares and never asked",
        "they delivered the wrong size",
        "I was charged again",
        "nos habéis anulado la clase",
        "me mandasteis otra talla",
    ],
    Intent.TONGUE: [
        "do you speak English?",
        "¿se puede hablar en inglés?",
        "hablas español?",
    ],
    Intent.FORGET: ["forget that please", "olvida eso"],
    Intent.UNDO: ["undo that", "Deshaz eso, por favor", "take that back"],
    Intent.NOT_REMEMBERED: ["forget about my car", "olvida lo de mi coche"],
    Intent.ADVICE: [
        "should I buy AAPL?",
        "¿me conviene vender IBM?",
        "is it a good time to invest?",
        "¿debo comprar Tesla?",
    ],
    Intent.SITE: [
        "¿qué días?",
        "who are you guys regulated by?",
        "ok, how do I sign up?",
        "ok, ¿y el registro?",
        "thanks, but what does it cost?",
        "do you sell bread?",
        "do you take bitcoin?",
        "¿aceptáis bitcoin?",
        "I want to buy a birthday cake",
        "¿hacéis envíos a domicilio?",
        "are you open on Sundays?",
        "how do alerts work?",
        "what order types are there?",
        "hola, ¿tenéis cita para mañana?",
        "thanks, can I bring my horrible dog?",
        "gracias, ¿cuándo abrís?",
        "can I cancel my appointment?",
        "do you take my insurance?",
        "is there parking?",
        "is sales@acme.com yours?",
        "quiero cancelar mi suscripción",
        "¿qué no como?",
        "¿y luego?",
    ],
    Intent.ABOUT: ["what is this?", "¿qué es esto exactamente?", "what do you do here?", "¿quiénes son ustedes?"],
}


@pytest.mark.parametrize(("text", "intent"), [(text, intent) for intent, texts in TALK.items() for text in texts])
def test_what_is_for_talking_or_for_the_site(text: str, intent: Intent) -> None:
    assert wish_in(text, SCHEMAS).intent is intent


@pytest.mark.parametrize(
    "text", ["show me my portfolio", "is the market open today?", "compra 5 AAPL", "muestra mi cartera"]
)
def test_where_nothing_is_traded_a_traders_wish_is_a_question_like_any_other(text: str) -> None:
    assert wish_in(text, ("search_memory", "fetch_page")).intent in (Intent.TOOL, Intent.MARKET)
    asked = wish_in(text, ("search_memory", "fetch_page"), trades=False)
    assert (asked.intent, asked.withheld) == (Intent.SITE, None)


def test_the_offline_assistant_greets_as_the_company_says() -> None:
    shop = CompanyConfig(company_id="sol", profile="support", assistant=Assistant(greeting={"es": "Hola, soy Lía."}))
    messages = [{"role": "user", "content": "hola"}]
    said = respond(messages, (), "es", introduced=True, company=shop)
    assert isinstance(said, SayText)
    assert said.text == "Hola, soy Lía."
    platform = CompanyConfig(company_id="broker", profile="trading")
    for asked in ("¿qué puedes hacer?", "what can you do?"):
        offer = respond([{"role": "user", "content": asked}], SCHEMAS, "es", company=platform)
        assert isinstance(offer, SayText)
        assert "AAPL" not in offer.text
    english = respond(
        [{"role": "user", "content": "¡Gracias!"}], (), "es", company=CompanyConfig(company_id="x", languages=["en"])
    )
    assert isinstance(english, SayText)
    assert "You are welcome!" in english.text
    able = respond([{"role": "user", "content": "¿qué puedes hacer?"}], ("fetch_page",), "es", company=shop)
    assert isinstance(able, SayText)
    assert "AAPL" not in able.text


@pytest.mark.parametrize("knowledge", [None, KnowledgeFound(documents=5)], ids=["no knowledge", "knowledge"])
@pytest.mark.parametrize("wish", ["quiero hablar con una persona", "agente por favor", "¿puedo hablar con alguien?"])
def test_who_asked_for_a_person_alone_is_not_told_that_the_site_does_not_say(
    wish: str, knowledge: KnowledgeFound | None
) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "hand_off", "arguments": '{"reason":"asked"}'}}
    messages = [
        {"role": "user", "content": wish},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": hand_over.result("asked", 5)},
    ]
    answer = respond(messages, [*SCHEMAS, "hand_off"], "es", introduced=True, knowledge=knowledge)
    assert answer == SayText(nobody_yet("es"))


THANKED = ("Gracias por contármelo.", "Thank you for telling me.")


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Soy florista y madrugo mucho", "Gracias por contármelo."),
        ("manejo un camión de reparto", "Gracias por contármelo."),
        ("I am a welder and work weekends", "Thank you for telling me."),
        ("my husband collects stamps", "Thank you for telling me."),
        ("it's raining here", "Thank you for telling me."),
        ("that was a long day at the office", "Thank you for telling me."),
        ("You were very kind yesterday", "Thank you for telling me."),
        ("qué mal tiempo hace", "Gracias por contármelo."),
        ("creo que hoy va a nevar", "Gracias por contármelo."),
        ("el lunes nos vamos a la playa", "Gracias por contármelo."),
        ("no puedo entrar, soy cliente", "No lo sé"),
        ("it is not working since Monday", "I do not know"),
        ("ayer me cobraron dos veces", "Siento lo ocurrido."),
        ("quiero una factura", "No lo sé"),
        ("where is my welding licence", "I do not know"),
    ],
)
def test_who_only_tells_of_themselves_is_thanked_and_not_told_that_nothing_was_found(said: str, answer: str) -> None:
    shop = CompanyConfig(company_id="sol", profile="support")
    offered = {"search_memory": SCHEMAS["search_memory"]}
    messages = [{"role": "user", "content": said}]
    for knowledge in (KnowledgeFound(documents=5), None):
        found = respond(messages, offered, "es", introduced=True, company=shop, knowledge=knowledge)
        assert isinstance(found, SayText)
        assert found.text.startswith(answer) or (knowledge is None and answer not in THANKED)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("remember that I smoke", "Nothing is kept of what is said here"),
        ("recuerda que fumo", "De lo que se dice por aquí no guardo nada"),
    ],
)
def test_what_is_told_where_nothing_is_kept_is_answered_with_where_to_tell_it(said: str, answer: str) -> None:
    offered = {"search_memory": SCHEMAS["search_memory"]}
    found = respond([{"role": "user", "content": said}], offered, "es", introduced=True, learns=False)
    assert isinstance(found, SayText)
    assert found.text.startswith(answer)


@pytest.mark.parametrize(
    ("said", "is_told"),
    [
        ("my favourite shares are KO and IBM", True),
        ("I don't like KO any more", True),
        ("tengo acciones de IBM en otro banco", True),
        ("I need to know how IBM is doing", False),
    ],
)
def test_who_tells_of_a_share_is_thanked_and_not_told_its_price(said: str, is_told: bool) -> None:
    found = respond([{"role": "user", "content": said}], SCHEMAS, "en", introduced=True)
    assert (isinstance(found, SayText) and found.text.startswith(THANKED)) is is_told


@pytest.mark.parametrize("knowledge", [KnowledgeFound(documents=5), None])
@pytest.mark.parametrize("asked", ["¿dónde trabajo?", "¿qué no como?"])
def test_a_question_about_oneself_is_answered_with_what_one_has_told(
    asked: str, knowledge: KnowledgeFound | None
) -> None:
    messages = [{"role": "user", "content": asked}]
    shop = CompanyConfig(company_id="sol", profile="support")
    facts = ["trabajo en un vivero"]
    found = respond(messages, SCHEMAS, "es", introduced=True, company=shop, knowledge=knowledge, facts=facts)
    assert found == SayText("Me contaste «trabajo en un vivero».")


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        ("me llamo olga", "¿cómo me llamo?", "Te llamas Olga."),
        ("Soy Olga y busco una silla", "sabes cual es mi nombre", "Te llamas Olga."),
        ("my name's Olga Ruiz, I need a chair", "what's my name?", "Your name is Olga Ruiz."),
        ("I'm Olga, nice to meet you", "do you remember my name?", "Your name is Olga."),
        (
            "I'm late, my name is not on the list",
            "what is my name",
            "I do not see your name in what we last talked about.",
        ),
        ("soy florista", "¿cómo me llamo?", "En lo último que hemos hablado no veo tu nombre."),
    ],
)
def test_a_visitor_is_told_the_name_that_they_told(told: str, asked: str, answer: str) -> None:
    messages = [
        {"role": "user" if at % 2 == 0 else "assistant", "content": one} for at, one in enumerate((told, "ok", asked))
    ]
    found = respond(messages, (), "es", introduced=True, company=CompanyConfig(company_id="sol", profile="support"))
    assert found == SayText(answer)
    assert talk_only(asked)


@pytest.mark.parametrize("told", ["me llamo olga", "Hi, my name is Olga", "I'm Olga, nice to meet you"])
def test_a_name_that_is_all_that_is_told_is_talk(told: str) -> None:
    found = respond([{"role": "user", "content": told}], (), "es", introduced=True)
    assert isinstance(found, SayText)
    assert "Olga" in found.text
    assert talk_only(told)


@pytest.mark.parametrize("request_", ["forget my name", "olvida cómo me llamo", "forget everything about me"])
def test_a_name_that_was_to_be_forgotten_is_not_told(request_: str) -> None:
    told, asked = "my name is Olga", "what's my name?"
    for texts, name in (([told, request_, asked], False), ([told, request_, told, asked], True)):
        messages = [{"role": "user", "content": text} for text in texts]
        found = respond(messages, SCHEMAS, "en", introduced=True, knowledge=KnowledgeFound(documents=10))
        assert isinstance(found, SayText)
        assert ("Olga" in found.text) is name


def test_a_customer_is_told_their_name_and_not_the_sentence_that_had_it() -> None:
    messages = [{"role": "user", "content": "what's my name?"}]
    found = respond(messages, SCHEMAS, "en", introduced=True, facts=["my name is Olga"])
    assert found == SayText("Your name is Olga.")


def test_without_memory_a_question_about_oneself_is_not_said_to_be_unknown() -> None:
    messages = [{"role": "user", "content": "where do I live?"}]
    found = respond(messages, ["search_memory"], "en", introduced=True, facts=None)
    assert found == SayText("I cannot reach my memory right now: try again in a moment.")
    greeting = [{"role": "user", "content": "hello"}]
    assert respond(greeting, SCHEMAS, "en", facts=None) == respond(greeting, SCHEMAS, "en")


@pytest.mark.parametrize("question", ["Who is my accountant?", "who's my account manager"])
def test_who_somebody_is_stands_in_no_account(question: str) -> None:
    fact = "my accountant is Laura"
    found = respond([{"role": "user", "content": question}], SCHEMAS, "en", introduced=True, facts=[fact])
    assert found == SayText(f"You told me “{fact}”.")


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("is someone there?", True),
        ("could someone real help us", True),
        ("might anybody human look at it?", True),
        ("is someone there overnight", False),
        ("are any people there all night?", False),
        ("¿hay alguien ahí toda la noche?", False),
        ("¿los lunes por la tarde hay alguien?", False),
        ("do you need a person: name and phone?", False),
    ],
)
def test_whether_somebody_is_there_at_night_is_a_question_of_the_site(text: str, asks: bool) -> None:
    assert asks_for_person(text) is asks


@pytest.mark.parametrize(
    ("name", "question", "intent"),
    [
        ("Alder Physio", "What does alder physio do?", Intent.ABOUT),
        ("Horno Sol", "¿A qué se dedica Horno Sol?", Intent.ABOUT),
        ("Northwind Markets", "what is northwind?", Intent.ABOUT),
        ("Pizza", "What is Pizza?", Intent.ABOUT),
        ("Pizza", "what pizza do you have?", Intent.SITE),
    ],
)
def test_a_company_may_be_called_by_its_name(name: str, question: str, intent: Intent) -> None:
    company = CompanyConfig(company_id="x", profile="support", name=name)
    found = [passage("Hours", "We open at 9:00."), passage("a", "# Welcome\n\nWe have been here since 1990.")]
    said = respond(
        [{"role": "user", "content": question}],
        (),
        "en",
        introduced=True,
        company=company,
        knowledge=KnowledgeFound(passages=found, documents=5),
    )
    # What it does is told by its first page; all else by what was found.
    assert (said == SayText("We have been here since 1990. [2]")) is (intent is Intent.ABOUT)


def test_of_a_text_that_a_program_sends_its_end_is_read() -> None:
    price = UseTools((("get_price", {"symbol": "AAPL"}),))
    for pages in (1, 30_000):
        text = "MSFT fell. " * pages + "\nWhat is AAPL trading at?"
        said = respond([{"role": "user", "content": text[-8_000:]}], SCHEMAS, "en")
        assert respond([{"role": "user", "content": text}], SCHEMAS, "en") == said
    assert respond([{"role": "user", "content": "Buy 3 MSFT. " + " " * 8_000 + "AAPL price?"}], SCHEMAS, "en") == price
