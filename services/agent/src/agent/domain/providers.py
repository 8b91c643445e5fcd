"""The providers and their models, as admins choose them; what a model's name means at its provider."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model. `params`: its size in words; `window` in tokens."""

    name: str
    params: str | None
    use: str
    window: int | None


@dataclass(frozen=True, slots=True)
class ProviderInfo:
    """One provider; the first of its models is its own choice."""

    name: str
    models: tuple[ModelInfo, ...] = ()

    @property
    def default(self) -> str:
        """The model that is asked for when nobody chose one."""
        return self.models[0].name


OFFLINE_MODEL = "offline-rules"
_GROQ_WINDOW = 128_000
GROQ = ProviderInfo(
    "groq",
    (
        ModelInfo("llama-3.3-70b-versatile", "70B", "general", _GROQ_WINDOW),
        ModelInfo("llama-3.1-8b-instant", "8B", "fast", _GROQ_WINDOW),
        ModelInfo("meta-llama/llama-4-scout-17b-16e-instruct", "17B", "balanced", _GROQ_WINDOW),
        ModelInfo("meta-llama/llama-4-maverick-17b-128e-instruct", "17B", "complex tasks", _GROQ_WINDOW),
        ModelInfo("qwen/qwen3-32b", "32B", "reasoning", _GROQ_WINDOW),
        ModelInfo("moonshotai/kimi-k2-instruct", None, "instructions", _GROQ_WINDOW),
    ),
)
OPENAI = ProviderInfo(
    "openai",
    (
        ModelInfo("gpt-4.1-mini", None, "balanced", 1_047_576),
        ModelInfo("gpt-4.1", None, "complex tasks", 1_047_576),
        ModelInfo("gpt-4.1-nano", None, "fast", 1_047_576),
        ModelInfo("gpt-4o", None, "complex tasks", 128_000),
        ModelInfo("gpt-4o-mini", None, "general", 128_000),
    ),
)
ANTHROPIC = ProviderInfo(
    "anthropic",
    (
        ModelInfo("claude-haiku-4-5", None, "fast", 200_000),
        ModelInfo("claude-sonnet-4-5", None, "complex tasks", 200_000),
        ModelInfo("claude-opus-4-5", None, "reasoning", 200_000),
    ),
)
OFFLINE = ProviderInfo("offline", (ModelInfo(OFFLINE_MODEL, None, "machines without a key", None),))
NAMED = (GROQ, OPENAI, ANTHROPIC)
"""Those that a key alone configures, in the order of the chain that nobody set."""
_BY_NAME = {provider.name: provider for provider in NAMED}
_SHORT_NAMES = {
    "meta-llama/llama-4-scout-17b": "meta-llama/llama-4-scout-17b-16e-instruct",
    "meta-llama/llama-4-maverick-17b": "meta-llama/llama-4-maverick-17b-128e-instruct",
}
OWNERS = {model.name: provider.name for provider in (*NAMED, OFFLINE) for model in provider.models}
_WINDOWS = {model.name: model.window for provider in NAMED for model in provider.models}


def short_names(model: str) -> list[str]:
    """The shorter names by which the model may be chosen."""
    return [short for short, name in _SHORT_NAMES.items() if name == model]


def default_model(provider: str) -> str:
    """The provider's own choice; raises KeyError for one that is not named here."""
    return _BY_NAME[provider].default


def window_of(model: str) -> int | None:
    """Tokens of a model's window, prompt and response together; None: not known."""
    return _WINDOWS.get(_SHORT_NAMES.get(model, model))


def small_model(provider: str, model: str) -> str:
    """The provider's fast and cheap model; the one given where none is known."""
    named = _BY_NAME.get(provider)
    fast = (info.name for info in named.models if info.use == "fast") if named else iter(())
    return next(fast, model)


def model_at(provider: str, model: str) -> str:
    """The name to ask the provider for.

    Short names are written out. A model that is known to be another provider's is left for the provider's default: who
    changes the provider and not the model means that. What nobody knows was chosen when the
    list was longer, or on the bus: it is asked for as it is.
    """
    model = _SHORT_NAMES.get(model, model)
    owner = OWNERS.get(model, provider)
    return model if owner == provider or provider not in _BY_NAME else default_model(provider)
