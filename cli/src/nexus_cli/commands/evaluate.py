"""`nexus eval`: measures answers, recall, memory, knowledge and checked claims."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nexus_cli.commands.failures import fail, print_json
from nexus_cli.commands.options import Json

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

    from nexus_cli.evaluation.cases import Case as EvalCase
    from nexus_cli.evaluation.memory_cases import MemoryCase
    from nexus_cli.evaluation.memory_report import CaseOutcome
    from nexus_cli.evaluation.runner import Result
    from nexus_cli.evaluation.stage import StageModels
    from nexus_cli.evaluation.vectors import EvaluationVectors

app = typer.Typer(help="Measure how good answers and recall are.")

LIKELY_CHANCE = 0.05
NOT_TRIED = 3
"""Exit code: nothing failed, and something could not be tried, so that nothing is shown either."""
MOST_HELD = 0.01
"""The share of true sentences that may be held back."""


@app.callback(invoke_without_command=True)
def evaluate(
    context: typer.Context,
    cases: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder of cases, one TOML file each. Default: our own.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Ask this model, also in cases that need one: a name, or provider:name.")
    ] = None,
    compare: Annotated[
        tuple[Path, Path] | None, typer.Option(metavar="A B", help="Two runs, as --json printed them: what changed.")
    ] = None,
    repeat: Annotated[
        int,
        typer.Option(min=1, max=20, help="Tries of each case, after a warm-up: how often it passes, the spread."),
    ] = 1,
    as_json: Json = False,
) -> None:
    """Run the cases: visitor chat, copilot, tools and analysis, on a stack of their own, with no network and no key."""
    if context.invoked_subcommand is not None:
        return
    if compare is not None:
        _compare(*compare, as_json=as_json)
    else:
        _run(cases, model, repeat, as_json=as_json)


def _run(directory: Path | None, model: str | None, repeat: int, *, as_json: bool) -> None:
    from nexus_cli.evaluation import results
    from nexus_cli.evaluation.cases import own_cases, read_cases
    from nexus_cli.evaluation.stage import chosen_models

    start = time.perf_counter()
    cases = read_cases(directory or own_cases())
    outcomes = asyncio.run(_tried(cases, chosen_models(model), repeat))
    run = results.view(outcomes, model, time.perf_counter() - start)
    if as_json:
        print_json(run)
    else:
        from rich.console import Console

        console = Console()
        console.print(results.table(run))
        console.print(results.failures(run), soft_wrap=True, end="")
        console.print(results.closing(run))
    if run["failed"]:
        raise typer.Exit(1)
    if run["errors"]:
        raise typer.Exit(NOT_TRIED)


async def _tried(cases: list[EvalCase], models: StageModels, repeat: int) -> list[Result]:
    from nexus_cli.evaluation.runner import run_cases
    from nexus_cli.evaluation.stage import stage

    with _progress("starting the stack", len(cases) * repeat) as update:
        async with stage(cases, models) as ready:
            update(description="trying")
            return await run_cases(cases, ready, lambda _: update(advance=1), repeat)


@contextmanager
def _progress(description: str, total: int, *more_columns: ProgressColumn) -> Generator[Callable[..., None]]:
    """Counts on standard error if that is a terminal; yields Progress.update of the count."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), *more_columns)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield partial(progress.update, progress.add_task(description, total=total))


def _compare(before: Path, after: Path, *, as_json: bool) -> None:
    from nexus_cli.evaluation import results

    comparison = results.compared(results.read_run(before), results.read_run(after))
    if as_json:
        print_json(comparison)
    else:
        from rich.console import Console

        console = Console()
        console.print(results.comparison_table(comparison))
        passed, failed = comparison["passed"], comparison["failed"]
        console.print(f"passed {passed[0]} → {passed[1]}, failed {failed[0]} → {failed[1]}")
        signs = comparison["sign_test"]
        chance = "chance explains it" if signs["p"] > LIKELY_CHANCE else "hardly by chance"
        console.print(f"sign test: {signs['better']} better, {signs['worse']} worse, p = {signs['p']:.2g}: {chance}")
    if comparison["worse"]:
        raise typer.Exit(1)


@app.command()
def conversations(
    path: Annotated[
        Path | None,
        typer.Option("--data", metavar="PATH", help="A conversation in TOML, or a folder of them. Default: our own."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Ask this model: a name, or provider:name.")] = None,
    as_json: Json = False,
) -> None:
    """Hold whole conversations, and count the answers that are acceptable, unknown or wrong."""
    _require("agent", "the agent, whose answers are judged,")
    from nexus_cli.evaluation.conversation_cases import counted, own_conversations, read_conversations, verdict
    from nexus_cli.evaluation.stage import chosen_models

    cases = read_conversations(path or own_conversations())
    outcomes = asyncio.run(_tried(cases, chosen_models(model), 1))
    counts = counted(outcomes)
    if as_json:
        turns = [
            {
                "id": result.case.id,
                "say": result.case.asked,
                "verdict": verdict(result),
                "text": result.text,
                "error": result.error,
            }
            for result in outcomes
        ]
        print_json({**counts, "turns": turns})
    else:
        for result in outcomes:
            if result.passed is not True:
                failed = "; ".join(f"{check.name}: {check.detail}" for check in result.checks or () if not check.passed)
                print(f"{verdict(result) or 'not tried':<11}{result.case.id}: {result.case.asked}")
                print(f"{'':<11}{result.error or failed}")
        print(f"{len(outcomes)} answers: " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    if counts["wrong"] or counts["unknown"]:
        raise typer.Exit(1)
    if sum(counts.values()) < len(outcomes):
        raise typer.Exit(NOT_TRIED)


@app.command()
def recall(
    file: Annotated[Path, typer.Option("--data", metavar="FILE", help="Dataset: our JSON form, or LoCoMo's.")],
    as_json: Json = False,
) -> None:
    """Measure how much of what answers a question search_memory finds, beside BM25 and word overlap.

    With vectors where NEXUS_EMBEDDINGS names an embedder, as in a running memory service."""
    _require_memory()
    from rich.progress import TimeRemainingColumn

    from nexus_cli.evaluation import recall_report
    from nexus_cli.evaluation.dataset import read
    from nexus_cli.evaluation.recall import measure

    cases = read(file)
    total = sum(len(case.questions) for case in cases)
    with _progress("asking", total, TimeRemainingColumn()) as update, _vectors() as vectors:
        report = measure(cases, lambda: update(advance=1), vectors)
    if as_json:
        print_json(recall_report.view(cases, report))
    else:
        recall_report.show(cases, report)


@app.command()
def memory(
    file: Annotated[Path, typer.Option("--data", metavar="FILE", help="Cases of long-term memory, in our JSON form.")],
    model: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|labels|obedient",
            help="Changes are proposed: as a model did whose answers FILE holds, as the labels say (the best there can "
            "be), or all of everything (the worst). Default: rules alone.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Ask the model that the environment names, and keep its answers."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure what is remembered of what people say: what stays true, what has changed, plain facts, paraphrases."""
    _require_memory()
    from nexus_cli.evaluation import memory_report
    from nexus_cli.evaluation.memory_cases import read_memory_cases

    cases = read_memory_cases(file)
    with_model = model is not None or record is not None
    outcomes = _proposed(cases, model, record) if with_model else memory_report.measure(cases)
    if as_json:
        print_json(memory_report.view(outcomes, with_model=with_model))
    else:
        _show_memory(outcomes, with_model=with_model)


def _proposed(cases: list[MemoryCase], model: str | None, record: Path | None) -> list[CaseOutcome]:
    from nexus_cli.evaluation.memory_models import BUILT_IN
    from nexus_cli.evaluation.memory_report import measure

    if model in BUILT_IN and record is None:
        return measure(cases, BUILT_IN[model])
    _require("agent", "the agent, which asks models,")
    from nexus_cli.evaluation.memory_records import Recorder, Recording

    if record is None:
        return measure(cases, Recording(Path(model or "")))
    with Recorder(record) as recorder:
        return measure(cases, recorder)


def _require_memory() -> None:
    _require("memory", "memory, which is measured,")


def _require(package: str, role: str) -> None:
    """Ends the command if a service that it needs is not installed."""
    if importlib.util.find_spec(package) is None:
        distribution = f"nexus-{package.replace('_', '-')}"
        fail(f"{role} is not installed here: install the distribution {distribution}")


def _show_memory(outcomes: list[CaseOutcome], *, with_model: bool) -> None:
    from nexus_cli.evaluation.memory_report import figures, plainly_wrong

    print(f"{'':<12}{'cases':>7}{'right':>7}{'share':>9}{'target':>9}")
    for row in figures(outcomes, with_model=with_model):
        target = "-" if row.target is None else f"{row.target:.0%}"
        print(f"{row.kind:<12}{row.cases:>7}{row.right:>7}{row.share:>9.1%}{target:>9}")
    print(f"plainly over, and still held true: {plainly_wrong(outcomes)} (target 0)")
    wrong_outcomes = [outcome for outcome in outcomes if outcome.why]
    if wrong_outcomes:
        print()
    for outcome in wrong_outcomes:
        print(f"{outcome.case.kind}: {' → '.join(outcome.case.said)}: {outcome.why}")


@app.command()
def knowledge(
    file: Annotated[Path, typer.Option("--data", metavar="FILE", help="Dataset: {site, cases}.")],
    as_json: Json = False,
) -> None:
    """Measure how often the right page of a site is found, and questions that it does not answer are told.

    With vectors where NEXUS_EMBEDDINGS names an embedder, as in a running memory service."""
    _require_memory()
    _require("tool_executor", "tool_executor, which reads the pages,")
    from nexus_cli.evaluation.knowledge import RANKINGS, measure, read

    data = read(file)
    with _progress("asking", len(data.cases)) as update, _vectors() as vectors:
        counts = measure(data, lambda: update(advance=1), vectors)
    traps = sum(not case.pages for case in data.cases)
    if as_json:
        view = {"pages": len(data.pages), "questions": len(data.cases) - traps, "traps": traps}
        print(json.dumps(view | {"rankings": {name: counts[name].view() for name in RANKINGS}}, indent=2))
        return
    print(f"{len(data.pages)} pages, {len(data.cases) - traps} questions, {traps} traps")
    print()
    print(f"{'right page':<18}{'first':>10}{'in first 3':>14}{'traps refused':>16}")
    for name in RANKINGS:
        row = counts[name].view()
        cells = ("-" if value is None else f"{value:.1%}" for value in row.values())
        print(f"{name:<18}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, (10, 14, 16), strict=True)))


@app.command()
def claims(
    count: Annotated[int, typer.Option(min=1, max=100_000, help="How many false sentences are made.")] = 10_000,
    seed: Annotated[int, typer.Option(help="The same seed makes the same sentences.")] = 1,
    as_json: Json = False,
) -> None:
    """Measure how well false sentences about figures are told from true ones: each false one has one thing changed."""
    _require("agent", "the agent, whose judgement is measured,")
    from nexus_cli.evaluation.claims import measure

    with _progress("judging", count) as update:
        measured = measure(count, seed, lambda: update(advance=1))
    view = measured.view()
    if as_json:
        print_json(view)
    else:
        print(
            f"{view['caught']} of {view['false']} false sentences caught; {view['held']} "
            f"of {view['true']} true ones held"
        )
        for change, change_counts in view["byChange"].items():
            print(f"  {change:<12}{change_counts['caught']:>7} of {change_counts['made']}")
        for sentence in measured.passed[:10]:
            print(f"not caught ({sentence.change}): {sentence.text}")
        for sentence in measured.held_back[:10]:
            print(f"held: {sentence.text}")
    if measured.passed or len(measured.held_back) > MOST_HELD * measured.true:
        raise typer.Exit(1)


@contextmanager
def _vectors() -> Generator[EvaluationVectors | None]:
    """Ends the command where NEXUS_EMBEDDINGS names an embedder that is not there."""
    from memory.embeddings.ports import EmbeddingError
    from nexus_cli.evaluation.vectors import evaluation_vectors

    try:
        with evaluation_vectors() as vectors:
            yield vectors
    except (ImportError, EmbeddingError) as error:
        fail(f"NEXUS_EMBEDDINGS: {error}")
