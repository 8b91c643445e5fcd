"""The metrics of turns: their names and labels. The names of spans are in runtime.observability.gen_ai."""

from prometheus_client import Counter, Gauge, Histogram

from runtime.observability.metrics import cached, from_zero

_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)

TURNS = cached(
    from_zero(
        Counter("nexus_turns_total", "Turns ended", ("outcome",)),
        ("answered", "failed", "budget spent", "completed", "completion_failed"),
    )
)
TURNS_RUNNING = Gauge("nexus_turns_running", "Turns that this agent drives now")
TURNS_DUE = Gauge("nexus_turns_due", "Messages that are due and not begun; each agent tells of all")
OLDEST_DUE = Gauge("nexus_oldest_due_seconds", "For how long the oldest of them has been due")
ANALYSES = from_zero(Counter("nexus_analyses_total", "Analyses ended", ("outcome",)), ("done", "failed"))
SENTENCES = Counter("nexus_sentences_dropped_total", "A model's sentences that no tool result backs", ("where",))
MODEL_SECONDS = cached(Histogram("nexus_model_seconds", "One model call", ("provider", "outcome"), buckets=_SECONDS))
MODEL_TOKENS = cached(Counter("nexus_model_tokens_total", "Tokens as providers count them", ("provider", "kind")))
FIRST_TOKEN_SECONDS = Histogram(
    "nexus_first_token_seconds", "From the stored message to the first text that goes out", buckets=_SECONDS
)
MODEL_COST = cached(
    Counter("nexus_model_cost_total", "What model calls cost, by the price list", ("provider", "currency"))
)
BUDGET_REFUSED = from_zero(
    Counter("nexus_budget_refused_total", "Model calls that a budget did not allow", ("whose",)), ("company", "visitor")
)
USAGE_LOST = Counter("nexus_usage_lost_total", "Model calls whose usage could not be recorded")
BUDGET_LOCAL = Counter("nexus_budget_local_total", "Model calls granted or refused without the shared budgets")
RECORDS_LOST = Counter("nexus_turn_records_lost_total", "Turns that cannot be replayed: their record was not kept")
_TOKENS = (1_000, 2_000, 4_000, 6_000, 8_000, 12_000, 16_000, 32_000, 64_000, 128_000)
COMPRESSION = Counter("nexus_agent_compression_total", "Prompts made shorter, by what was done", ("strategy",))
ORIGINAL_TOKENS = Histogram(
    "nexus_agent_compression_original_tokens", "System prompt and messages before compression", buckets=_TOKENS
)
COMPRESSED_TOKENS = Histogram(
    "nexus_agent_compression_compressed_tokens", "System prompt and messages after compression", buckets=_TOKENS
)
SUMMARIES = Counter("nexus_agent_summaries_total", "Summaries of conversations made to be kept", ("outcome",))
PROPOSALS = Counter("nexus_agent_proposals_total", "Turns after which a model proposed what to remember", ("outcome",))
PROMISES = Counter("nexus_agent_promises_total", "Promises to remember without a call", ("outcome",))
PROPOSALS_JUDGED = Counter("nexus_agent_proposals_judged_total", "Changes that a model proposed", ("outcome",))

STRATEGIES = "nexus.compression.strategies"
