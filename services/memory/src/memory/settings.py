"""Settings of this service alone; the shared ones are in runtime.settings."""

from typing import Literal

from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import SettingsConfigDict

from runtime.addresses import HttpAddress
from runtime.settings import EnvSettings


class MemorySettings(EnvSettings):
    """Addresses, limits and times of memory."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_MEMORY_")

    port: int = Field(default=0, ge=0, le=65_535, description="health and metrics; 0: any free one")
    history_deadline: float = Field(default=3.0, gt=0, description="seconds to wait for a sequence that is named")
    handoff_sweep: float = Field(default=1.0, gt=0, description="seconds between looks at waiting conversations")
    quiet_sweep: float = Field(default=30.0, gt=0, description="seconds between looks at conversations that fell quiet")
    forgetting_sweep: float = Field(default=2.0, gt=0, description="seconds between looks at deletions to repeat")
    keeping_sweep: float = Field(default=600.0, gt=0, description="seconds between looks whether old data is to go")
    positions_sweep: float = Field(
        default=60.0, gt=0, description="seconds between looks at how far what fills the stores has come"
    )
    webhook_timeout: float = Field(default=10.0, gt=0, description="seconds that an endpoint has for its answer")
    webhook_give_up: float = Field(default=86_400.0, gt=0, description="seconds for which a delivery is tried")
    settings_sweep: float = Field(default=5.0, gt=0, description="seconds between looks for untold settings")
    context_part: float = Field(
        default=0.4,
        gt=0,
        description="seconds that a part of a customer's context may take before it is left out; one that waits for "
        "others twice as long, which is 40 % of what an agent waits for all",
    )


class EmbeddingSettings(EnvSettings):
    """Vectors as a second ranker of searches; needs the extra `vectors` of this distribution."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_EMBEDDINGS_", populate_by_name=True)

    kind: Literal["none", "wheel", "openai"] = Field(
        default="none",
        validation_alias=AliasChoices("kind", "NEXUS_EMBEDDINGS"),
        description="none; wheel: the model that comes with the extra; openai: any server of /v1/embeddings",
    )
    base_url: HttpAddress = Field(default="https://api.openai.com/v1", description="of the server, for openai")
    model: str = Field(default="text-embedding-3-small", description="the model's name there")
    api_key: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("api_key", "NEXUS_EMBEDDINGS_API_KEY", "OPENAI_API_KEY")
    )
    seconds: float = Field(
        default=0.25, gt=0, le=2, description="seconds that a search waits for its question's vector"
    )
