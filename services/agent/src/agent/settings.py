"""The agent's own settings."""

import math
from collections import ChainMap
from typing import Annotated

from pydantic import AliasChoices, Field, SecretStr, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from contracts.providers import COMPATIBLE, KEYED, KEYS
from contracts.symbols import parse_symbol
from runtime.addresses import HttpAddress
from runtime.setting_names import secret_files
from runtime.settings import EnvSettings
from runtime.workers.pull_worker import LEASE

DEFAULT_SILENCE_SECONDS = 20.0
"""Seconds without a byte of a reply after which a model call is given up."""


class AgentSettings(EnvSettings):
    """Limits and times of turns."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_AGENT_", populate_by_name=True)

    port: int = Field(default=0, ge=0, le=65_535, description="of /healthz, /readyz and /metrics; 0: a free one")
    slots: int = Field(default=500, ge=1, description="turns in work at once")
    turn_deadline_seconds: float = Field(
        default=120.0,
        gt=0,
        validation_alias=AliasChoices("turn_deadline_seconds", "NEXUS_TURN_DEADLINE_SECONDS"),
        description="after which a turn ends in a visible message",
    )
    model_seconds: float = Field(
        default=60.0, gt=0, description="for the first words of a model's reply, fail-over included"
    )
    tool_seconds: float = Field(default=45.0, gt=0, description="to wait for one tool call's outcome")
    ack_wait_seconds: float = Field(default=LEASE, gt=0, description="after which a dead agent's turns go to others")
    window_tokens: int = Field(default=8_000, ge=1_000, description="of system prompt and messages, at most")
    compress_above_tokens: int = Field(default=6_000, ge=500, description="of them, from which they are compressed")
    compress_to_tokens: int = Field(default=4_000, ge=500, description="of them, to which they are brought down")
    sweep_seconds: float = Field(default=15.0, gt=0, description="between two looks for forgotten messages")
    sweep_after_seconds: float = Field(default=40.0, gt=0, description="that a message has waited to be forgotten")
    analysis_deadline_seconds: float = Field(
        default=120.0,
        gt=0,
        validation_alias=AliasChoices("analysis_deadline_seconds", "NEXUS_ANALYSIS_DEADLINE_SECONDS"),
        description="after which an analysis reports what it has",
    )
    analysis_max_tool_calls: int = Field(
        default=12,
        ge=1,
        le=1000,
        validation_alias=AliasChoices("analysis_max_tool_calls", "NEXUS_ANALYSIS_MAX_TOOL_CALLS"),
        description="of one analysis, counted per tool and ticker",
    )
    default_tickers: str = Field(
        default="",
        validation_alias=AliasChoices("default_tickers", "NEXUS_DEFAULT_TICKERS"),
        description="proxies for questions that name no ticker, e.g. SPY,QQQ,TLT,GLD; empty: ask for one",
    )

    @field_validator("default_tickers")
    @classmethod
    def _tickers(cls, text: str) -> str:
        return ",".join(parse_symbol(ticker).name for ticker in text.split(",") if ticker.strip())

    @property
    def proxies(self) -> tuple[str, ...]:
        """The default tickers, one by one."""
        return tuple(ticker for ticker in self.default_tickers.split(",") if ticker)


class _ProviderVariables(PydanticBaseSettingsSource):
    """Reads the providers' keys and addresses from the variables that the registry names. A field that the caller
    passes itself is left alone."""

    def __init__(
        self,
        settings_cls: type[BaseSettings],
        init_source: PydanticBaseSettingsSource,
        *sources: PydanticBaseSettingsSource,
    ) -> None:
        super().__init__(settings_cls)
        self._init_source = init_source
        variables = (dict(source.env_vars) for source in sources if isinstance(source, EnvSettingsSource))
        self._variables = ChainMap(*variables, {name.lower(): value for name, value in secret_files().items()})

    def __call__(self) -> dict[str, dict[str, str]]:
        """Returns the values by field and then by provider."""
        keys = {name: self._variables.get(key.lower()) for name, key in KEYS.items()}
        addresses = {name: self._variables.get(provider.address_variable.lower()) for name, provider in KEYED.items()}
        values_by_field = {"provider_keys": keys, "provider_addresses": addresses}
        given_values = self._init_source()
        return {
            field: {name: value for name, value in values.items() if value}
            for field, values in values_by_field.items()
            if field not in given_values
        }

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[None, str, bool]:
        """Never called, because `__call__` returns all fields at once."""
        return None, field_name, False


class ModelSettings(EnvSettings):
    """The model providers. `base_url` with its key and model wins over what companies prefer."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_LLM_", populate_by_name=True)

    base_url: HttpAddress | None = Field(
        default=None, description="any OpenAI-compatible server, e.g. http://127.0.0.1:8000/v1"
    )
    api_key: SecretStr | None = None
    model: str | None = Field(default=None, description="the model's name at base_url")
    window_tokens: int = Field(
        default=128_000, ge=2_000, description="of a model that is not listed: prompt, tools and response together"
    )
    sees: bool = Field(default=False, description="a model that is not listed takes pictures")
    chain: str = Field(default=",".join(KEYED), description="providers in the order of fail-over; none: no one")
    time_limits: str = Field(
        default="",
        description="seconds without a word after which the next one is asked, e.g. groq=5,openai=20; the others 20",
    )
    provider_keys: Annotated[dict[str, SecretStr], NoDecode] = Field(
        default_factory=dict[str, SecretStr], description="by provider, each from the variable that its row names"
    )
    provider_addresses: Annotated[dict[str, str], NoDecode] = Field(
        default_factory=dict[str, str], description="by provider, instead of its own address: NEXUS_LLM_…_BASE_URL"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Adds the variables of the providers in the registry as the last source."""
        provider_variables = _ProviderVariables(settings_cls, init_settings, env_settings, dotenv_settings)
        sources = (init_settings, env_settings, dotenv_settings, file_secret_settings)
        return *super().settings_customise_sources(settings_cls, *sources), provider_variables

    @field_validator("chain")
    @classmethod
    def _of_providers(cls, text: str) -> str:
        for name in _split_names(text):
            _check_provider(name, (*KEYED, "none"))
        return text

    @field_validator("time_limits")
    @classmethod
    def _readable(cls, text: str) -> str:
        _parse_time_limits(text)
        return text

    def silence(self, provider: str) -> float:
        """Returns the seconds without a byte of a reply after which a call of this provider is given up."""
        return _parse_time_limits(self.time_limits).get(provider, DEFAULT_SILENCE_SECONDS)

    @property
    def order(self) -> list[str]:
        """The providers of `chain`, in order."""
        return _split_names(self.chain)


def _split_names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _check_provider(name: str, known: tuple[str, ...]) -> None:
    """Raises ValueError for an unknown provider. Without the check a misspelt name would silently have no effect."""
    if name not in known:
        raise ValueError(f"{name!r} is no provider: write some of {', '.join(known)}")


def _parse_time_limits(text: str) -> dict[str, float]:
    limits: dict[str, float] = {}
    for part in _split_names(text):
        name, _, seconds = part.partition("=")
        _check_provider(name.strip(), (*KEYED, COMPATIBLE.name))
        try:
            limits[name.strip()] = float(seconds)
        except ValueError as error:
            raise ValueError(f"{part!r}: write provider=seconds, e.g. groq=5,openai=20") from error
        if not 0 < limits[name.strip()] < math.inf:
            raise ValueError(f"{part!r}: the seconds must be a number more than 0")
    return limits
