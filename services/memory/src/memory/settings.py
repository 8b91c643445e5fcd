"""Settings of this service alone; the shared ones are in runtime.settings."""

from pydantic import Field

from runtime.settings import EnvSettings


class MemorySettings(EnvSettings):
    """Memory."""

    port: int = Field(0, alias="NEXUS_MEMORY_PORT", ge=0, le=65_535, description="health and metrics; 0: any free one")
    history_deadline: float = Field(
        3.0, alias="NEXUS_MEMORY_HISTORY_DEADLINE", gt=0, description="seconds to wait for a sequence that is named"
    )
    handoff_sweep: float = Field(
        1.0, alias="NEXUS_MEMORY_HANDOFF_SWEEP", gt=0, description="seconds between looks at waiting conversations"
    )
    settings_sweep: float = Field(
        5.0, alias="NEXUS_MEMORY_SETTINGS_SWEEP", gt=0, description="seconds between looks for untold settings"
    )
