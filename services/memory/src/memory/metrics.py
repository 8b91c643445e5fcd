"""Memory's metrics."""

from prometheus_client import Counter, Gauge

from runtime.observability.metrics import from_zero

PROJECTED = Counter("nexus_memory_projected_total", "Facts of conversations that are in the database")
BEHIND = Gauge("nexus_memory_projection_behind", "Facts of conversations that are not in the database yet")
STANDING = Gauge(
    "nexus_memory_projection_standing_seconds", "For how long facts have waited for the database while none got there"
)
WINDOWS = Counter("nexus_memory_windows_total", "Where the newest messages of a conversation were found", ("source",))
WEBHOOKS = from_zero(
    Counter("nexus_memory_webhooks_total", "Tries to tell an endpoint a fact, by how they ended", ("outcome",)),
    ("delivered", "failed", "gone", "forbidden", "given_up", "dropped"),
)
CONTEXT_MISSING = Counter("nexus_memory_context_missing_total", "Parts that contexts had to do without", ("part",))
TRIMMED = Counter("nexus_memory_trimmed_total", "Facts that left the log: old, stored, read by everybody")
STREAM_FILL = Gauge("nexus_stream_fill_ratio", "Bytes held of the bytes that a stream may hold", ("stream",))
STREAM_OLDEST = Gauge("nexus_stream_oldest_seconds", "Age of a stream's oldest message", ("stream",))
STREAM_CUT_SHORT = Gauge(
    "nexus_stream_cut_short", "1 while a stream's size makes it keep less than its promised time", ("stream",)
)
CONSUMER_BEHIND = Gauge(
    "nexus_consumer_behind", "Messages that a consumer has not acknowledged", ("stream", "consumer")
)
STORAGE_USED = Gauge("nexus_jetstream_storage_bytes", "Bytes that all streams hold")
STORAGE_ROOM = Gauge("nexus_jetstream_room_bytes", "Bytes left of the account's storage; infinite without a limit")
EMBEDDED = Counter("nexus_memory_embedded_total", "Texts of which a vector was made")
EMBEDDINGS_FAILED = Counter(
    "nexus_memory_embeddings_failed_total", "Vectors that could not be had, or not in time", ("what",)
)
STORE_RUNNING = Gauge("nexus_memory_store_commands", "Commands that MongoDB is working on", ("lane",))
STORE_REFUSED = Counter(
    "nexus_memory_store_refused_total", "Commands that were not begun because MongoDB had too much to do", ("lane",)
)
RECOVERED = Counter(
    "nexus_memory_recovered_total", "Facts that a store did not have any more and got from the log", ("store", "source")
)
STORE_MISSES = Gauge(
    "nexus_memory_missed_sequences", "Sequences that a store misses and the log holds no more", ("store", "source")
)
HANDOVERS = Gauge("nexus_handovers_waiting", "Conversations that wait for a person to take them; each memory tells all")
HANDOVER_OLDEST = Gauge("nexus_handover_oldest_seconds", "For how long the one that has waited longest has")
