"""Names of spans and attributes by OpenTelemetry's conventions for generative AI.

https://opentelemetry.io/docs/specs/semconv/gen-ai/. The conventions still change, so the names are in one place. The
contents of messages never become attributes.
"""

SPAN_TURN = "invoke_agent"
SPAN_CHAT = "chat"
SPAN_TOOL = "execute_tool"
OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
CONVERSATION = "gen_ai.conversation.id"
TOOL_NAME = "gen_ai.tool.name"
TOOL_CALL = "gen_ai.tool.call.id"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"

# Steps of a turn that the conventions have no names for.
SPAN_QUEUE = "queue"
SPAN_CONTEXT = "context"
SPAN_COMMIT = "commit"
