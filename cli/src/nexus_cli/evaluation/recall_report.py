"""The output of `nexus eval recall`."""

from __future__ import annotations

from collections.abc import Sequence

from nexus_cli.evaluation.dataset import DatasetCase
from nexus_cli.evaluation.recall import DEPTHS, RANKINGS, RecallReport

TITLES = {"search_memory": "search_memory", "bm25": "plain BM25", "overlap": "word overlap"}


def view(cases: Sequence[DatasetCase], report: RecallReport) -> dict[str, object]:
    """The figures, for JSON."""
    return {
        "conversations": len(cases),
        "messages": sum(len(session) for case in cases for session in case.sessions),
        "questions": report.total.questions,
        "leftOut": sum(case.left_out for case in cases),
        "unknownEvidence": sum(case.unknown for case in cases),
        "undatedSessions": sum(case.undated for case in cases),
        "recall": report.total.view(),
        "categories": {
            name: {"questions": counts.questions, "recall": counts.view()}
            for name, counts in sorted(report.categories.items())
        },
    }


def show(cases: Sequence[DatasetCase], report: RecallReport) -> None:
    """Prints the figures as a table."""
    messages = sum(len(session) for case in cases for session in case.sessions)
    print(f"{len(cases)} conversations, {messages} messages, {report.total.questions} questions")
    for count, label in (
        (sum(case.left_out for case in cases), "questions left out: none of their evidence names a message"),
        (sum(case.unknown for case in cases), "pieces of evidence name no message"),
        (sum(case.undated for case in cases), "sessions without a date that can be read"),
    ):
        if count:
            print(f"{count} {label}")
    print()
    print(f"{'recall at':<18}" + "".join(f"{depth:>8}" for depth in DEPTHS))
    for name in RANKINGS:
        print(f"{TITLES[name]:<18}" + "".join(f"{report.total.recall(name, depth):>8.1%}" for depth in DEPTHS))
    if len(report.categories) > 1:
        print()
        print(f"{'at 10, by category':<22}{'questions':>10}" + "".join(f"{TITLES[name]:>16}" for name in RANKINGS))
        for name, counts in sorted(report.categories.items()):
            row = "".join(f"{counts.recall(ranking, 10):>16.1%}" for ranking in RANKINGS)
            print(f"{name[:21]:<22}{counts.questions:>10}{row}")
