"""The diagnostic tools that the suite calls by name: what they return or send is the suite's own definition."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from contracts.errors import ToolCode
from contracts.events.tool import ToolError, ToolMetadata, ToolResult
from contracts.tools_rpc import ToolDetails
from gateway.doors.mcp.offer import Context
from gateway.doors.mcp.results import listed_tool, tool_result

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="
Params = types.CallToolRequestParams
Outcome = types.CallToolResult | types.InputRequiredResult | dict[str, Any]
"""As the SDK takes it: a task in the place of a result is a mapping."""
Run = Callable[[Context, Params], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One tool. `structured` says that it answers with data, as all of the product's own do."""

    name: str
    run: Run
    parameters: dict[str, Any] = field(default_factory=lambda: arguments())
    structured: bool = False

    def listed(self) -> types.Tool:
        """The tool as the product's own are listed."""
        details = ToolDetails(
            name=self.name,
            category="education",
            description=f"Diagnostic: {self.name.replace('_', ' ')}",
            parameters=self.parameters,
            output_schema={"type": "object"},
            examples=[{}],
            budget_per_ticker=0,
        )
        tool = listed_tool(details, views=False)
        return tool if self.structured else tool.model_copy(update={"output_schema": None})


def arguments(**properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object with these fields, all of them needed."""
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | ({"required": list(properties)} if properties else {})


def said(*content: types.ContentBlock | str) -> types.CallToolResult:
    """A result of these parts."""
    return types.CallToolResult(content=[types.TextContent(text=c) if isinstance(c, str) else c for c in content])


def embedded(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
    """A text that is a resource."""
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=text))


def image() -> types.ImageContent:
    """One pixel."""
    return types.ImageContent(data=PIXEL, mime_type="image/png")


def constant(*content: types.ContentBlock | str) -> Run:
    """A tool that always says the same."""

    async def run(context: Context, params: Params) -> Outcome:
        del context, params
        return said(*content)

    return run


async def simple_text(context: Context, params: Params) -> Outcome:
    """Data, as the product's tools give it."""
    del context, params
    data = {"text": "This is a simple text response for testing."}
    return tool_result(ToolResult(success=True, data=data, metadata=ToolMetadata(execution_time=0.0)))


async def error_handling(context: Context, params: Params) -> Outcome:
    """A refusal, as the product's tools give it."""
    del context, params
    error = ToolError(code=ToolCode.EXECUTION_ERROR, message="This tool intentionally returns an error for testing")
    return tool_result(ToolResult(success=False, error=error, metadata=ToolMetadata(execution_time=0.0)))


async def with_logging(context: Context, params: Params) -> Outcome:
    """Three lines of log; a client of 2026-07-28 gets them when it asks for them."""
    del params
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.session.send_log_message("info", line, related_request_id=context.request_id)  # pyright: ignore[reportDeprecated]
    return said("Tool with logging executed successfully")


async def with_progress(context: Context, params: Params) -> Outcome:
    """Three signs of progress."""
    del params
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100, f"Completed step {done} of 100")
    return said("done")


async def sampling(context: Context, params: Params) -> Outcome:
    """Asks the client's model in mid-call (revisions that have a handshake)."""
    prompt = str((params.arguments or {})["prompt"])
    message = types.SamplingMessage(role="user", content=types.TextContent(text=prompt))
    answer = await context.session.create_message(  # pyright: ignore[reportDeprecated]
        [message], max_tokens=100, related_request_id=context.request_id
    )
    return said(f"LLM response: {answer.content.text if isinstance(answer.content, types.TextContent) else ''}")


def elicitation(schema: dict[str, Any], message: str | None = None) -> Run:
    """Asks the client's user in mid-call (revisions that have a handshake)."""

    async def run(context: Context, params: Params) -> Outcome:
        text = message or str((params.arguments or {})["message"])
        answer = await context.session.elicit_form(text, schema, context.request_id)
        return said(f"User response: action={answer.action}, content={answer.content}")

    return run


async def missing_capability(context: Context, params: Params) -> Outcome:
    """Refuses whoever has not said that it can sample."""
    del params
    needed = types.ClientCapabilities(sampling=types.SamplingCapability())
    if not context.session.check_client_capability(needed):
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
        raise MCPError(
            code=types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="this tool needs sampling",
            data=data.model_dump(by_alias=True, exclude_none=True),
        )
    return said("sampled")


TEXT: dict[str, Any] = {"type": "string"}
DEFAULTS = arguments(
    name={"type": "string", "default": "John Doe"},
    age={"type": "integer", "default": 30},
    score={"type": "number", "default": 95.5},
    status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    verified={"type": "boolean", "default": True},
)
_PLAIN = ["option1", "option2", "option3"]
_TITLED = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
ENUMS = arguments(
    untitledSingle={"type": "string", "enum": _PLAIN},
    titledSingle={"type": "string", "oneOf": _TITLED},
    legacyEnum={"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
    untitledMulti={"type": "array", "items": {"type": "string", "enum": _PLAIN}},
    titledMulti={"type": "array", "items": {"anyOf": _TITLED}},
)
SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {"$anchor": "addressDef", "type": "object", "properties": {"street": TEXT, "city": TEXT}},
    },
    "properties": {
        "name": TEXT,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": TEXT,
        "email": TEXT,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
HEADERS = arguments(region={"type": "string", "x-mcp-header": "Region"})

PLAIN: tuple[Diagnostic, ...] = (
    Diagnostic("test_simple_text", simple_text, structured=True),
    Diagnostic("test_error_handling", error_handling, structured=True),
    Diagnostic("test_image_content", constant(image())),
    Diagnostic("test_audio_content", constant(types.AudioContent(data=SILENCE, mime_type="audio/wav"))),
    Diagnostic(
        "test_embedded_resource",
        constant(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
    ),
    Diagnostic(
        "test_multiple_content_types",
        constant(
            "Multiple content types test:",
            image(),
            embedded("test://mixed-content-resource", "application/json", '{"test": "data", "value": 123}'),
        ),
    ),
    Diagnostic("test_tool_with_logging", with_logging),
    Diagnostic("test_logging_tool", with_logging),
    Diagnostic("test_tool_with_progress", with_progress),
    Diagnostic("test_sampling", sampling, arguments(prompt=TEXT)),
    Diagnostic("test_elicitation", elicitation(arguments(username=TEXT, email=TEXT)), arguments(message=TEXT)),
    Diagnostic("test_elicitation_sep1034_defaults", elicitation(DEFAULTS, "Please provide user information")),
    Diagnostic("test_elicitation_sep1330_enums", elicitation(ENUMS, "Please select")),
    Diagnostic("test_missing_capability", missing_capability),
    Diagnostic("json_schema_2020_12_tool", constant("valid"), SCHEMA_2020_12),
    Diagnostic("test_custom_headers", constant("heard"), HEADERS),
)
