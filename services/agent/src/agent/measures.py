"""What is measured of turns: names and labels in one place, spans by OpenTelemetry's conventions for generative AI.

https://opentelemetry.io/docs/specs/semconv/gen-ai/ (they still move, so they stand here alone). Contents of messages
never become attributes.
"""

from prometheus_client import Counter, Histogram

_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)

TURNS = Counter("nexus_turns_total", "Turns ended", ("outcome",))
MODEL_SECONDS = Histogram("nexus_model_seconds", "One model call", ("provider", "outcome"), buckets=_SECONDS)
MODEL_TOKENS = Counter("nexus_model_tokens_total", "Tokens as providers count them", ("provider", "kind"))
FIRST_TOKEN_SECONDS = Histogram(
    "nexus_first_token_seconds", "From the stored message to the first text that goes out", buckets=_SECONDS
)
USAGE_LOST = Counter("nexus_usage_lost_total", "Model calls whose usage could not be recorded")
BUDGET_LOCAL = Counter("nexus_budget_local_total", "Model calls granted or refused without the shared budgets")

SPAN_TURN = "invoke_agent"
SPAN_CHAT = "chat"
SPAN_TOOL = "execute_tool"
OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
MODEL = "gen_ai.request.model"
CONVERSATION = "gen_ai.conversation.id"
TOOL_NAME = "gen_ai.tool.name"
TOOL_CALL = "gen_ai.tool.call.id"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
