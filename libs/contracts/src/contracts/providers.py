"""Model providers; each is declared here, once.

A row of PROVIDERS determines where agents send requests and with which key, which models can be preferred and the order
of fallback, prices, what `nexus doctor`, `nexus replay` and `nexus eval` know, the console's list, and (written by
`make contracts`) the key variables in `deploy` and `docker-compose.yml`.
"""

from dataclasses import dataclass
from datetime import date

CURRENCY = "USD"
OPENAI_CLIENT = "openai_compatible"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model. `window` in tokens; `params`: its size as text; `price`: for a million prompt tokens and a million
    completion tokens, None if unknown; `aliases`: other names for it; `sees`: it accepts images."""

    name: str
    use: str
    window: int | None = None
    params: str | None = None
    price: tuple[float, float] | None = None
    aliases: tuple[str, ...] = ()
    sees: bool = False


@dataclass(frozen=True, slots=True)
class PriceList:
    """The source of a provider's prices. `as_of` is the date of the list that was known when they were written, not
    the last day on which they were right."""

    as_of: date
    source: str


@dataclass(frozen=True, slots=True)
class ProviderInfo:
    """One provider; the first of its models is its default. `name` is used in settings, `label` is for people.

    `client`: the module beside `agent.adapters.model_router` that speaks its API; `address`: of that API; `key`: the
    environment variable that holds its key and so configures it; None: it needs none. `successor`: the model
    that is called instead of one that it no longer serves; it need not be among those that can be chosen.
    """

    name: str
    label: str
    client: str = OPENAI_CLIENT
    address: str = ""
    key: str | None = None
    models: tuple[ModelInfo, ...] = ()
    prices: PriceList | None = None
    successor: ModelInfo | None = None

    @property
    def default(self) -> str:
        """The model that is used if nobody chose one."""
        return self.models[0].name

    @property
    def known_models(self) -> tuple[ModelInfo, ...]:
        """Its models and their successor."""
        return self.models if self.successor in (None, *self.models) else (*self.models, self.successor)

    @property
    def address_variable(self) -> str:
        """The environment variable for another address, e.g. of a proxy."""
        return f"NEXUS_LLM_{self.name.upper().replace('-', '_')}_BASE_URL"


COMPATIBLE = ProviderInfo("compatible", "OpenAI-compatible")
"""The installation's own server, set in the environment."""
OFFLINE_MODEL = "offline-rules"
OFFLINE = ProviderInfo("offline", "Offline", models=(ModelInfo(OFFLINE_MODEL, "machines without a key"),))
"""Answers if no other provider is configured."""

_LUNA = ModelInfo("gpt-6-luna", "fast", 1_050_000, None, (0.10, 0.50), sees=True)
_HAIKU = ModelInfo("claude-haiku-5-5", "fast", 1_000_000, None, (0.10, 0.50), sees=True)

# None of the prices has been checked against an invoice. Providers change them without notice, and very long prompts,
# cached prompts, batches and priority tiers have other prices. To correct one, change it and the date of its list.
PROVIDERS: tuple[ProviderInfo, ...] = (
    ProviderInfo(
        "groq",
        "Groq",
        address="https://api.groq.com/openai/v1",
        key="GROQ_API_KEY",
        prices=PriceList(date(2026, 11, 1), "https://groq.com/pricing"),
        successor=ModelInfo("openai/gpt-oss-120b", "general", 131_072, "120B", (0.15, 0.60)),
        models=(
            ModelInfo("llama-3.3-70b-versatile", "general", 128_000, "70B", (0.59, 0.79)),
            ModelInfo("llama-3.1-8b-instant", "fast", 128_000, "8B", (0.05, 0.08)),
            ModelInfo(
                "meta-llama/llama-4-scout-17b-16e-instruct",
                "balanced",
                128_000,
                "17B",
                (0.11, 0.34),
                ("meta-llama/llama-4-scout-17b",),
                sees=True,
            ),
            ModelInfo(
                "meta-llama/llama-4-maverick-17b-128e-instruct",
                "complex tasks",
                128_000,
                "17B",
                (0.20, 0.60),
                ("meta-llama/llama-4-maverick-17b",),
                sees=True,
            ),
            ModelInfo("qwen/qwen3-32b", "reasoning", 128_000, "32B", (0.29, 0.59)),
            ModelInfo("moonshotai/kimi-k2-instruct", "instructions", 128_000, None, (1.00, 3.00)),
        ),
    ),
    ProviderInfo(
        "openai",
        "OpenAI",
        address="https://api.openai.com/v1",
        key="OPENAI_API_KEY",
        prices=PriceList(date(2026, 11, 5), "https://developers.openai.com/api/docs/pricing"),
        successor=_LUNA,
        models=(
            ModelInfo("gpt-4.1-mini", "balanced", 1_047_576, None, (0.40, 1.60), sees=True),
            ModelInfo("gpt-4.1", "complex tasks", 1_047_576, None, (2.00, 8.00), sees=True),
            ModelInfo("gpt-4.1-nano", "fast", 1_047_576, None, (0.10, 0.40), sees=True),
            ModelInfo("gpt-4o", "complex tasks", 128_000, None, (2.50, 10.00), sees=True),
            ModelInfo("gpt-4o-mini", "general", 128_000, None, (0.15, 0.60), sees=True),
            _LUNA,
            ModelInfo("gpt-6-sol", "complex tasks", 1_050_000, None, (2.00, 10.00), sees=True),
        ),
    ),
    ProviderInfo(
        "anthropic",
        "Anthropic",
        client="anthropic",
        address="https://api.anthropic.com/v1",
        key="ANTHROPIC_API_KEY",
        prices=PriceList(date(2026, 10, 21), "https://www.anthropic.com/pricing"),
        successor=_HAIKU,
        models=(
            ModelInfo("claude-haiku-4-5", "fast", 200_000, None, (1.00, 5.00), sees=True),
            ModelInfo("claude-sonnet-4-5", "complex tasks", 200_000, None, (3.00, 15.00), sees=True),
            ModelInfo("claude-opus-4-5", "reasoning", 200_000, None, (5.00, 25.00), sees=True),
            _HAIKU,
            ModelInfo("claude-sonnet-5-5", "complex tasks", 1_000_000, None, (2.00, 10.00), sees=True),
            ModelInfo("claude-opus-5-5", "reasoning", 1_000_000, None, (4.00, 20.00), sees=True),
        ),
    ),
    COMPATIBLE,
    OFFLINE,
)
NAMES = tuple(provider.name for provider in PROVIDERS)
"""The providers that a company's settings may prefer."""
KEYED = {provider.name: provider for provider in PROVIDERS if provider.key is not None}
"""The providers that need only a key, in the default order of fallback."""
KEYS = {provider.name: provider.key for provider in PROVIDERS if provider.key is not None}
"""The environment variables of those keys."""
