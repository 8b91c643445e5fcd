"""The settings of this service; those that services share are in runtime.settings."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from runtime.settings import EnvSettings


class ExecutorSettings(EnvSettings):
    """Concurrency, how long results are remembered, and limits of pages."""

    model_config = SettingsConfigDict(env_prefix="NEXUS_TOOL_EXECUTOR_")

    port: int = Field(default=0, ge=0, le=65535, description="health port; 0: a free one")
    slots: int = Field(default=256, ge=1, description="calls in work at once")
    slow_slots: int = Field(default=48, ge=1, description="of these, at most so many of one slow category")
    crawl_per_second: float = Field(default=2.0, gt=0, le=10_000, description="pages of one host a second")
    crawl_own_per_second: float = Field(
        default=50.0, gt=0, le=10_000, description="the same, of this machine's own sites"
    )
    crawl_slots: int = Field(default=32, ge=1, description="places at runs in work at once, four a run")
