"""A company's settings (LlmCompanyConfig), with every default and bound. Memory keeps them; the bus carries them."""

import re
from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    StrictBool,
    StrictFloat,
    StrictInt,
    ValidationError,
    ValidationInfo,
    model_serializer,
)

from contracts import languages
from contracts.addresses import Origin, PathRule, SiteAddress
from contracts.enumerations import INPUT_CONTEXT, OPEN_EXCEPT_INPUT, is_input
from contracts.envelope import Wire
from contracts.errors import FieldFault
from contracts.ids import CompanyId, derive_id
from contracts.json_values import is_object
from contracts.office_hours import OfficeHours, TimeZone
from contracts.own_model import OwnModel
from contracts.own_tools import OwnTools, endpoint
from contracts.person_rules import PagePath, PersonRule
from contracts.plain_text import LINE_OF_SETTINGS, PROMPT, WORDS_OF_SETTINGS
from contracts.providers import NAMES
from contracts.strict import Strict
from contracts.team import Team
from contracts.webhooks import checked_name
from contracts.wrong_fields import message_of
from contracts.zones import zone

NULL_IS_A_VALUE = frozenset({"budget.visitorHourlyTokens"})
"""Fields in which null means "no limit" rather than the default; a merge patch keeps it."""
RESERVED_COMPANIES = frozenset({"providers", "-"})


def _company(value: str) -> str:
    if value in RESERVED_COMPANIES:
        raise ValueError(f"{value!r} is reserved")
    return value


_COLOR = re.compile(r"^#[0-9a-fA-F]{6}$")


Profile = Annotated[Literal["support", "trading"], OPEN_EXCEPT_INPUT]
SUPPORT, TRADING = "support", "trading"
TRADING_CATEGORIES = frozenset({"market", "portfolio", "news", "ml", "trading", "alerts", "calculate", "education"})
"""Tool categories that only the profile `trading` has, whatever else is set."""
Category = Annotated[
    Literal[
        "market",
        "portfolio",
        "news",
        "ml",
        "trading",
        "alerts",
        "calculate",
        "education",
        "memory",
        "knowledge",
        "site",
        "own",
    ],
    OPEN_EXCEPT_INPUT,
]


class Categories(Strict):
    """Tool categories switched on or off, separately for visitors and customers. For a category that is not named,
    customers have what their plan allows, visitors what `enabledTools` and fetch_page's switch allow."""

    visitors: dict[Category, StrictBool] = Field(default_factory=dict[Category, StrictBool], max_length=20)
    customers: dict[Category, StrictBool] = Field(default_factory=dict[Category, StrictBool], max_length=20)


class ToolConfig(Strict):
    """The tools of a company's visitors, and the limits of fetch_page."""

    fetch_page_enabled: StrictBool = False
    allowed_domains: list[Origin] = Field(default_factory=list[str], max_length=20)
    allowed_paths: list[PathRule] = Field(
        default_factory=list[str], max_length=100, description="path prefixes or globs; empty: every path"
    )
    max_iterations: StrictInt = Field(default=3, ge=1, le=10)
    cache_enabled: StrictBool = True
    cache_ttl_seconds: StrictInt = Field(default=3600, ge=0, le=86_400)
    enabled_tools: list[Annotated[str, Field(min_length=1, max_length=128)]] = Field(
        default_factory=list[str], max_length=100, description="free-plan tools that visitors get too"
    )
    categories: Categories = Field(default_factory=Categories)


class Budget(Strict):
    """The tokens that a company and a visitor may spend, and what happens once they are spent."""

    daily_tokens: StrictInt | None = Field(default=None, ge=0, description="null: no limit")
    visitor_hourly_tokens: StrictInt | None = Field(default=50_000, ge=0, description="null: no limit")
    when_spent: Annotated[Literal["cheaper_model", "text", "handoff"], OPEN_EXCEPT_INPUT] = "handoff"
    cheaper_model: Annotated[str, Field(max_length=200), LINE_OF_SETTINGS] | None = None
    fallback_text: Annotated[str, Field(max_length=2000), WORDS_OF_SETTINGS] | None = None

    @model_serializer(mode="wrap")
    def _serialize_with_unknown(self, serialize: SerializerFunctionWrapHandler, info: SerializationInfo):  # noqa: ANN202 - as in Strict
        """Serialises null as "no hourly limit", which differs from the default, and fields that only a newer release
        knows; other nulls are left out on the wire."""
        data: dict[str, object] = serialize(self) | self.unknown
        if self.visitor_hourly_tokens is None:
            data["visitorHourlyTokens" if info.by_alias else "visitor_hourly_tokens"] = None
        return data


def _event_name(value: str, info: ValidationInfo) -> str:
    return checked_name(value) if is_input(info) else value


class Webhook(Strict):
    """An endpoint of the company for its facts, signed with the secret. `events`: see contracts.webhooks; none: all."""

    url: Annotated[str, Field(max_length=2048, pattern=r"^https?://"), AfterValidator(endpoint)]
    events: list[Annotated[str, AfterValidator(_event_name)]] = Field(default_factory=list[str], max_length=50)
    secret: str = Field(min_length=8, max_length=256)
    gone_at: datetime | None = Field(
        default=None, description="since when nothing is sent, because the endpoint answered 410; null: send again"
    )


class IdentityKey(Strict):
    """A key with which a company signs its users' tokens. `id` is their `kid`; RS256: a public key in PEM."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    algorithm: Annotated[Literal["HS256", "RS256"], OPEN_EXCEPT_INPUT]
    key: str = Field(min_length=8, max_length=8192)
    since: datetime | None = Field(default=None, description="when it was added or replaced; set by the server")

    @property
    def mark(self) -> str:
        """An identifier of this key that differs from that of a later key with the same id."""
        return self.id if self.since is None else f"{self.id}@{self.since.isoformat()}"


class Identity(Strict):
    """Keys whose tokens prove a known user to the widget; no token can claim a higher plan than `highest_plan`."""

    keys: list[IdentityKey] = Field(default_factory=list[IdentityKey], max_length=4)
    highest_plan: Annotated[Literal["free", "pro", "premium"], OPEN_EXCEPT_INPUT] = "free"


Word = Annotated[str, Field(min_length=1, max_length=60), LINE_OF_SETTINGS]


class Knowledge(Strict):
    """Which parts of a company's site are read, how often, and how they are searched."""

    site_url: SiteAddress | None = Field(default=None, description="where reading begins; null: no site is read")
    sitemap: SiteAddress | None = Field(default=None, description="null: those of robots.txt, or /sitemap.xml")
    allowed_paths: list[PathRule] = Field(
        default_factory=list[str], max_length=100, description="path prefixes or globs; empty: every path"
    )
    denied_paths: list[PathRule] = Field(
        default_factory=list[str], max_length=100, description="path prefixes or globs that are never read"
    )
    max_pages: StrictInt = Field(default=2000, ge=1, le=20_000)
    refresh_hours: StrictInt = Field(default=24, ge=1, le=720)
    synonyms: list[Annotated[list[Word], Field(min_length=2, max_length=20)]] = Field(
        default_factory=list[list[str]], max_length=500, description="groups of words that mean the same here"
    )


class Channel(Strict):
    """A Chatwoot inbox in which the assistant answers as its agent bot. `address`: of that Chatwoot; `token`: the
    bot's access token; `secret`: its webhooks are signed with it; `inbox`: the only one to answer in, null for every
    inbox that the bot is connected to. The webhook's address is /v2/channels/chatwoot/ plus the `id`, which begins
    with the company's id; if left out, it is derived from the other fields."""

    id: str | None = Field(default=None, max_length=100)
    kind: Annotated[Literal["chatwoot"], OPEN_EXCEPT_INPUT] = "chatwoot"
    address: Annotated[str, Field(max_length=2048, pattern=r"^https?://"), AfterValidator(endpoint)]
    account: StrictInt = Field(default=1, ge=1)
    inbox: StrictInt | None = Field(default=None, ge=1)
    token: Annotated[str, Field(min_length=8, max_length=512), LINE_OF_SETTINGS]
    secret: str = Field(min_length=8, max_length=256)


Language = Annotated[languages.Language, OPEN_EXCEPT_INPUT]
Greeting = Annotated[str, Field(min_length=1, max_length=300), WORDS_OF_SETTINGS]
Suggestion = Annotated[str, Field(min_length=1, max_length=80), LINE_OF_SETTINGS]


class Assistant(Strict):
    """How the assistant presents itself in the widget and in its answers."""

    name: Annotated[str, Field(min_length=1, max_length=60), LINE_OF_SETTINGS] | None = Field(
        default=None, description="null: it has none"
    )
    tone: Annotated[str, Field(max_length=300), WORDS_OF_SETTINGS] | None = Field(
        default=None, description="how it speaks, in a few words; null: friendly"
    )
    greeting: dict[Language, Greeting] = Field(
        default_factory=dict[Language, Greeting], description="what the chat begins with, by language"
    )
    suggestions: dict[Language, Annotated[list[Suggestion], Field(max_length=6)]] = Field(
        default_factory=dict[Language, list[Suggestion]], description="questions to press on, by language"
    )


class ProactiveMessage(Strict):
    """A message that the closed chat shows to people who stay on a page: once in each browser, and never to anyone who
    has opened the chat."""

    text: Greeting
    pages: list[PagePath] = Field(default_factory=list[str], max_length=100, description="empty: every page")
    after_seconds: StrictInt = Field(default=20, ge=0, le=3600, description="on the page")
    language: Language | None = Field(default=None, description="of the chat; null: any")


Days = Annotated[StrictInt, Field(ge=1, le=3650)]


class Retention(Strict):
    """After how many days old data is deleted; it runs once a day. null: conversations are kept for good, traces
    (what is recorded of turns) as long as their streams hold them."""

    conversation_days: Days | None = Field(default=None, description="since the last message")
    file_days: Days | None = Field(default=None, description="since a file was sent; its message stays")
    trace_days: Days | None = Field(default=None, description="since the turn")


def _provider(value: str, info: ValidationInfo) -> str:
    if is_input(info) and value not in NAMES:
        *others, last = (repr(name) for name in NAMES)
        raise ValueError(f"must be {', '.join(others)} or {last}")
    return value


Provider = Annotated[str, AfterValidator(_provider)]
"""The name of a provider. People must choose one of contracts.providers; a store or the bus may hold one of another
release."""


class CompanyConfig(Strict):
    """A company's settings; `version` is not part of them (see CompanySettings)."""

    company_id: Annotated[CompanyId, AfterValidator(_company)]
    name: Annotated[str, Field(min_length=1, max_length=80), LINE_OF_SETTINGS] | None = Field(
        default=None, description="what people call it; null: its id"
    )
    profile: Profile = Field(
        default="trading",
        description="its product: support has no market tools, no copilot of a trading platform and no paper orders",
    )
    languages: list[Language] = Field(
        default_factory=list[Language],
        max_length=len(languages.LANGUAGES),
        description="that it speaks, its own first: who asks for another gets the first; empty: es and en",
    )
    time_zone: Annotated[TimeZone, Field(max_length=64)] | None = Field(
        default=None, description="IANA name; of customers who have said none of their own; null: America/Mexico_City"
    )
    assistant: Assistant = Field(default_factory=Assistant)
    ai_auto_response_enabled: StrictBool = False
    ai_suggestions_enabled: StrictBool = True
    ai_respond_with_commercial: StrictBool = False
    own_model: OwnModel | None = Field(
        default=None, description="of the company's own, asked first; null: those of the installation alone"
    )
    preferred_provider: Provider = "groq"
    preferred_model: Annotated[str, Field(min_length=1, max_length=200), LINE_OF_SETTINGS] = "llama-3.3-70b-versatile"
    custom_system_prompt: Annotated[str, Field(max_length=8000), PROMPT] | None = None
    include_visitor_info: StrictBool = True
    max_response_tokens: StrictInt = Field(default=500, ge=1, le=8192)
    temperature: StrictFloat = Field(default=0.7, ge=0, le=2)
    response_delay_ms: StrictInt = Field(default=1000, ge=0, le=60_000)
    tool_config: ToolConfig = Field(default_factory=ToolConfig)
    own_tools: OwnTools = Field(default_factory=OwnTools)
    allowed_origins: list[Origin] = Field(default_factory=list[str], max_length=50)
    budget: Budget = Field(default_factory=Budget)
    handoff_timeout_seconds: StrictInt = Field(default=120, ge=10, le=3600)
    owner_idle_minutes: StrictInt = Field(
        default=15, ge=1, le=1440, description="after which a human owner who leaves a visitor waiting loses them"
    )
    owner_idle_action: Annotated[Literal["needs_person", "ai"], OPEN_EXCEPT_INPUT] = Field(
        default="needs_person", description="to whom the conversation goes then: the list of those who wait, or the AI"
    )
    assignment: Annotated[Literal["by_hand", "in_turn"], OPEN_EXCEPT_INPUT] = Field(
        default="by_hand",
        description="of conversations that wait for a person: in_turn gives each to who had none longest",
    )
    resolve_after_hours: StrictInt = Field(
        default=24, ge=0, le=720, description="of silence after an answer a conversation is resolved; 0: never"
    )
    ask_rating: StrictBool = Field(default=True, description="visitors are asked once, when it is over, if it helped")
    office_hours: OfficeHours | None = Field(default=None, description="when people are there; null: always")
    person_rules: list[PersonRule] = Field(
        default_factory=list[PersonRule], max_length=50, description="the first that fits a message counts"
    )
    brand_color: str | None = Field(default=None, pattern=_COLOR.pattern)
    proactive: list[ProactiveMessage] = Field(
        default_factory=list[ProactiveMessage], max_length=20, description="the first that fits is said; empty: nothing"
    )
    webhooks: list[Webhook] = Field(default_factory=list[Webhook], max_length=20)
    channels: list[Channel] = Field(default_factory=list[Channel], max_length=20)
    identity: Identity = Field(default_factory=Identity)
    team: Team = Field(default_factory=Team)
    knowledge: Knowledge = Field(default_factory=Knowledge)
    retention: Retention = Field(default_factory=Retention)

    @property
    def trades(self) -> bool:
        """Whether the company's product is a trading platform. A profile of a newer release does not count as one."""
        return self.profile == TRADING

    def answer_language(self, language: Language | None) -> Language:
        """Returns the language in which the company answers a speaker of `language` (None: unknown)."""
        own = self.languages[0] if self.languages else None
        if language is None or (own is not None and language not in self.languages):
            return own or languages.DEFAULT_LANGUAGE
        return language

    @property
    def own_zone(self) -> tzinfo:
        """The time zone of the company's days: its own, else that of its office hours, else UTC."""
        return zone(self.time_zone or (self.office_hours.timezone if self.office_hours else "UTC"))


def channel_id(company: str, channel: Channel) -> str:
    """Returns the channel's id: its own, or one derived from its address, account and inbox."""
    parts = (company, channel.address, str(channel.account), str(channel.inbox or ""))
    return channel.id or f"{company}_{derive_id('channel', *parts)[:8]}"


def read_config(stored: object) -> "CompanyConfig":
    """Reads settings from a store or the bus, from any release; unknown fields are kept.

    Unknown values of an enumeration stay as they are. A field that cannot be read gets its default, but since it may
    have been a limit, the AI then does not answer by itself, and with an unreadable budget nothing is spent.

    Raises:
        ValidationError: not even the company's id can be read.
    """
    if not is_object(stored):
        return CompanyConfig.model_validate(stored)
    fields = stored
    try:
        return CompanyConfig.model_validate(fields, extra="allow")
    except ValidationError as error:
        unread = {str(problem["loc"][0]) for problem in error.errors()} - {"companyId"}
    readable = {name: value for name, value in fields.items() if name not in unread} | {"aiAutoResponseEnabled": False}
    if "budget" in unread:
        readable["budget"] = {"dailyTokens": 0}
    if "profile" in unread:
        readable["profile"] = SUPPORT
    config = CompanyConfig.model_validate(readable, extra="allow")
    unreadable_fields = {name: fields[name] for name in unread | {"aiAutoResponseEnabled"} if name in fields}
    config.unknown.update(unreadable_fields)
    return config


def faults(config: Mapping[str, object], before: Mapping[str, object] | None = None) -> list[FieldFault]:
    """Returns what is wrong with settings that somebody sends, except faults that `before` already had."""
    known = _faults(before) if before is not None else {}
    return [fault for place, fault in _faults(config).items() if place not in known]


def _faults(config: Mapping[str, object]) -> dict[tuple[str, str], FieldFault]:
    """Returns the faults by field and value (as text)."""
    faults: dict[tuple[str, str], FieldFault] = {}
    try:
        CompanyConfig.model_validate(config, context=INPUT_CONTEXT)
    except ValidationError as error:
        for problem in error.errors(include_url=False):
            place, message = ".".join(map(str, problem["loc"])) or "settings", message_of(problem)
            faults[place, repr(problem["input"])] = FieldFault(field=place, message=message)
    return faults


def _read_tools(sent: object) -> object:
    return ToolConfig.model_validate(sent, extra="allow")


ReadConfig = Annotated[CompanyConfig, BeforeValidator(read_config)]
ReadToolConfig = Annotated[ToolConfig, BeforeValidator(_read_tools)]
"""Settings inside messages, as any release may have written them."""


class CompanySettings(Wire):
    """A company's settings with their version, which grows by one with each change (and is the ETag over REST)."""

    config: ReadConfig
    version: int = Field(ge=1)
    deleted: Literal[True] | None = Field(default=None, description="there is no such company any more")
