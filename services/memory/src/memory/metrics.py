"""What memory counts."""

from prometheus_client import Counter, Gauge

PROJECTED = Counter("nexus_memory_projected_total", "Facts of conversations that are in the database")
BEHIND = Gauge("nexus_memory_projection_behind", "Facts of conversations that are not in the database yet")
WINDOWS = Counter("nexus_memory_windows_total", "Where the newest messages of a conversation were found", ("source",))
WEBHOOKS = Counter("nexus_memory_webhooks_total", "Tries to tell an endpoint a fact, by how they ended", ("outcome",))
CONTEXT_MISSING = Counter("nexus_memory_context_missing_total", "Parts that contexts had to do without", ("part",))
TRIMMED = Counter("nexus_memory_trimmed_total", "Facts that left the log: old, stored, read by everybody")
