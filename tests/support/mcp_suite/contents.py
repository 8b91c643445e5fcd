"""The diagnostic prompts and resources that the suite reads by name, and completion."""

import json
import re

import mcp_types as types
from mcp.shared.exceptions import MCPError

from gateway.doors.mcp.offer import Context
from tests.support.mcp_suite.rounds import question
from tests.support.mcp_suite.tools import PIXEL, TEXT, embedded, image

_TEMPLATE = "test://template/{id}/data"
_FILLED = re.compile(r"test://template/([^/]+)/data")
_CONTEXT: types.InputRequests = {"user_context": question("What context should the prompt use?", context=TEXT)}


def _prompt(name: str, *names: str) -> types.Prompt:
    wanted = [types.PromptArgument(name=n, description=n, required=True) for n in names]
    return types.Prompt(name=name, description=f"Diagnostic: {name.replace('_', ' ')}", arguments=wanted or None)


async def list_prompts(context: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    """All of them, on one page."""
    del context, params
    return types.ListPromptsResult(
        prompts=[
            _prompt("test_simple_prompt"),
            _prompt("test_prompt_with_arguments", "arg1", "arg2"),
            _prompt("test_prompt_with_embedded_resource", "resourceUri"),
            _prompt("test_prompt_with_image"),
            _prompt("test_input_required_result_prompt"),
        ]
    )


async def get_prompt(
    context: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    """One prompt; one of them asks the client's user first."""
    del context
    given = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            return _user("This is a simple prompt for testing.")
        case "test_prompt_with_arguments":
            return _user(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")
        case "test_prompt_with_embedded_resource":
            content = embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
            return _user(content, "Please process the embedded resource above.")
        case "test_prompt_with_image":
            return _user(image(), "Please analyze the image above.")
        case "test_input_required_result_prompt":
            answer = (params.input_responses or {}).get("user_context")
            if not isinstance(answer, types.ElicitResult):
                return types.InputRequiredResult(input_requests=_CONTEXT)
            return _user(f"Use this context: {answer.content}")
        case _:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown prompt: {params.name[:128]}")


def _user(*content: types.ContentBlock | str) -> types.GetPromptResult:
    blocks = [types.TextContent(text=c) if isinstance(c, str) else c for c in content]
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=block) for block in blocks])


async def complete(context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    """What begins with what was typed."""
    del context
    values = [word for word in ("test-one", "test-two") if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))


async def list_resources(context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    """All that need no template."""
    del context, params
    kinds = {"static-text": "text/plain", "static-binary": "image/png", "watched-resource": "text/plain"}
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=f"test://{name}", name=name, description=f"Diagnostic: {name}", mime_type=kind)
            for name, kind in kinds.items()
        ]
    )


async def list_templates(
    context: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    """The one template."""
    del context, params
    template = types.ResourceTemplate(
        uri_template=_TEMPLATE, name="template", description="Diagnostic: template", mime_type="application/json"
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    """One resource; raises INVALID_PARAMS with its address when there is none."""
    del context
    uri = params.uri
    if uri == "test://static-binary":
        return types.ReadResourceResult(
            contents=[types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL)]
        )
    if found := _FILLED.fullmatch(uri):
        name = found[1]
        text = json.dumps({"id": name, "templateTest": True, "data": f"Data for ID: {name}"})
        return _text(uri, text, "application/json")
    if uri == "test://static-text":
        return _text(uri, "This is the content of the static text resource.")
    if uri == "test://watched-resource":
        return _text(uri, "Watched resource content")
    raise MCPError(code=types.INVALID_PARAMS, message="Resource not found", data={"uri": uri})


def _text(uri: str, text: str, kind: str = "text/plain") -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=text)])
