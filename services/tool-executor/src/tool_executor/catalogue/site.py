"""fetch_page: reads a page of the company's own site."""

from tool_executor.domain.declaration import (
    ArgumentProblem,
    CacheScope,
    CallContext,
    Category,
    Data,
    DeclaredTool,
    ToolFailedError,
)
from tool_executor.domain.plans import Arguments, CompanyTools
from tool_executor.domain.shapes import TEXT, arguments_schema, data_schema
from tool_executor.domain.site_address import AddressRefusedError, canonical_path
from tool_executor.ports import ReadPage
from tool_executor.texts import TEXTS, named


def site_is_open(company: CompanyTools) -> bool:
    """Whether the company allows its site to be read: fetch_page is enabled and allowed domains are set."""
    return company.config.fetch_page_enabled and bool(company.config.allowed_domains)


def path_problems(arguments: Arguments) -> list[ArgumentProblem]:
    """Returns a problem if the path is malformed; whether the company allows it is checked later."""
    try:
        canonical_path(arguments["path"])
    except AddressRefusedError as error:
        return [ArgumentProblem("path", error.text)]
    return []


def with_canonical_path(arguments: Arguments) -> Arguments:
    return {"path": canonical_path(arguments["path"])}


def tools(read_page: ReadPage) -> list[DeclaredTool]:
    async def fetch_page(arguments: Arguments, context: CallContext) -> Data:
        if context.company is None:
            raise ToolFailedError("not_allowed", TEXTS["site.may_not_be_read"])
        page = await read_page(context.company, arguments["path"])
        data: Data = {"url": page.url, "title": page.title, "text": page.text, "truncated": page.truncated}
        if page.links:
            data["links"] = [
                {"path": link.path, "text": link.text, **({"language": link.language} if link.language else {})}
                for link in page.links
            ]
        return data

    description = "Path on the company's site, beginning with /, e.g. /pricing"
    path = {**TEXT, "maxLength": 2048, "description": description}
    return [
        DeclaredTool(
            id="site.fetch_page",
            **named("fetch_page"),
            category=Category.SITE,
            per_minute=30,
            time_limit=10.0,
            cache=CacheScope.SITE,
            version=2,
            input_schema=arguments_schema({"path": path}),
            output_schema=data_schema(
                {"url": TEXT, "title": {"type": "string"}, "text": {"type": "string"}, "truncated": {"type": "boolean"}}
            ),
            handler=fetch_page,
            validator=path_problems,
            normaliser=with_canonical_path,
            offered=site_is_open,
            for_visitors=True,
            examples=({"path": "/pricing"},),
        )
    ]
