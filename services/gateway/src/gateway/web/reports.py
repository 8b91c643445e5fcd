"""GET /v2/reports: outcomes by day, channel, language, user or door, as JSON or CSV, down to single conversations."""

import csv
import io
from datetime import UTC, date
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse

from contracts import report_rpc
from contracts.report_rpc import By, Figure, ReportOpenReply, ReportReply
from gateway.adapters.service_calls import REPORT_SECONDS, ask
from gateway.web.deps import ApiDep, OperatorDep
from gateway.web.problems import described
from gateway.web.usage import FirstDay, LastDay, days_between

router = APIRouter(prefix="/v2/reports", tags=["usage"])
CSV = "text/csv"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


async def get_days(
    api: ApiDep, caller: OperatorDep, since: FirstDay = None, until: LastDay = None
) -> tuple[date, date]:
    """The requested days in the company's time zone, both included; raises BAD_FIELD (422). The zone is read from
    memory itself, so that if memory is away, nobody waits for a report's long deadline."""
    settings = await api.companies.latest_settings(caller.company)
    zone = settings.config.own_zone if settings else UTC
    return days_between(since, until, api.clock.now().astimezone(zone).date())


DaysDep = Annotated[tuple[date, date], Depends(get_days)]
GroupedBy = Annotated[By, Query(description="what the rows have in common")]


@router.get(
    "", response_model=ReportReply, responses=described() | {200: {"content": {CSV: {}, "application/json": {}}}}
)
async def get_report(
    request: Request, api: ApiDep, caller: OperatorDep, days: DaysDep, by: GroupedBy = "day"
) -> Response:
    """The conversations begun on these days (of the company's time zone) and their outcome; as a table with Accept:
    text/csv."""
    report_request = report_rpc.ReportRequest(company_id=caller.company, since=days[0], until=days[1], by=by)
    report = await ask(api.rpc, report_rpc.REPORT, report_request, deadline=REPORT_SECONDS)
    if CSV in request.headers.get("accept", ""):
        name = f"report-{days[0].isoformat()}-{days[1].isoformat()}-{by}.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(_csv_table(report), media_type=f"{CSV}; charset=utf-8", headers=headers)
    return JSONResponse(report.to_wire())


@router.get("/conversations", responses=described())
async def open_report(
    api: ApiDep,
    caller: OperatorDep,
    days: DaysDep,
    by: GroupedBy = "day",
    key: Annotated[str | None, Query(max_length=200, description="of the row; left out: of all rows")] = None,
    figure: Figure = "conversations",
) -> ReportOpenReply:
    """The conversations behind a figure, newest first."""
    request = report_rpc.ReportOpenRequest(
        company_id=caller.company, since=days[0], until=days[1], by=by, key=key, figure=figure
    )
    return await ask(api.rpc, report_rpc.REPORT_OPEN, request, deadline=REPORT_SECONDS)


def _csv_table(report: ReportReply) -> str:
    """The rows and their total as CSV, with the field names of the JSON."""
    total = {"key": "total"} | report.total.model_dump(by_alias=True)
    rows = [row.model_dump(by_alias=True) for row in report.rows]
    output = io.StringIO()
    writer = csv.DictWriter(output, ["key", *[name for name in total if name != "key"]], lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in [*rows, total])
    return output.getvalue()


def _cell(value: object) -> object:
    """Escapes a text that a spreadsheet would interpret as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) and value != "-" else value
