"""`nexus eval recall`: what datasets it reads, what it prints, and how it ends when it cannot."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from memory.testing.embeddings import embedding_server
from nexus_cli.evaluation.baselines import PlainBm25, WordOverlap
from nexus_cli.evaluation.dataset import read
from nexus_cli.main import app

EXAMPLE = Path(__file__).parents[2] / "examples" / "recall.json"
LOCOMO: dict[str, Any] = {
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Ana", "dia_id": "D1:1", "text": "I adopted a dog"},
        {"speaker": "Bob", "dia_id": "D1:2", "text": "Lovely, what is the name?"},
        {"speaker": "Ana", "dia_id": "D1:3", "text": "Rufus!", "blip_caption": "a brown puppy"},
    ],
    "session_2_date_time": "9:00 am on 2 June, 2023",
    "session_2": [{"speaker": "Bob", "dia_id": "D2:1", "text": "The weather was fine in Rome"}],
    "session_3_date_time": "9:00 am on 3 June, 2023",
}
QA: list[dict[str, Any]] = [
    {"question": "What is the name of Ana's dog?", "evidence": ["D1:1; D1:03"], "category": 1},
    {"question": "Where was Bob?", "evidence": ["D2:1"], "category": 4},
    {"question": "Nobody knows?", "evidence": ["D9:9"], "category": 4},
    {"question": "Nothing to find?", "evidence": []},
]
OWN: dict[str, Any] = {
    "conversations": [
        {
            "id": "ana",
            "sessions": [
                {"date": "2026-01-05T10:00:00Z", "messages": [{"id": "a", "speaker": "user", "text": "Vivo en Lima"}]},
                {"messages": [{"text": "Mi broker es Kappa", "date": 1767700000}]},
            ],
            "questions": [
                {"question": "¿Dónde vivo?", "evidence": ["a"]},
                {"question": "¿Con qué corredor opero?", "evidence": "D2:1"},
            ],
        }
    ]
}


def evaluate(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["eval", "recall", *arguments], env={"NO_COLOR": "1"})


def written(tmp_path: Path, content: Any) -> str:
    path = tmp_path / "data.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


@pytest.mark.parametrize(
    "content", [[{**LOCOMO, "qa": QA}], {"conversation": LOCOMO, "qa": QA}, [{"conversation": LOCOMO, "qa": QA}]]
)
def test_locomos_files_are_read_as_they_are(tmp_path: Path, content: Any) -> None:
    shown = evaluate("--data", written(tmp_path, content), "--json")
    report = json.loads(shown.stdout)
    assert shown.exit_code == 0
    assert (report["messages"], report["questions"], report["leftOut"]) == (4, 2, 2)
    assert (report["unknownEvidence"], report["undatedSessions"]) == (1, 0)
    assert report["recall"]["search_memory"]["5"] == 1
    assert set(report["recall"]) == {"search_memory", "bm25", "overlap"}
    assert [report["categories"][name]["questions"] for name in ("1", "4")] == [1, 1]


def test_our_own_form_may_leave_out_ids_dates_and_speakers(tmp_path: Path) -> None:
    path = written(tmp_path, OWN)
    (case,) = read(Path(path))
    assert [[message.id for message in session] for session in case.sessions] == [["a"], ["D2:1"]]
    assert case.undated == 1
    assert case.sessions[1][0].at.year == 2026
    shown = evaluate("--data", path)
    assert shown.exit_code == 0
    assert "1 conversations, 2 messages, 2 questions" in shown.stdout
    assert [line.split()[0] for line in shown.stdout.splitlines() if "%" in line] == ["search_memory", "plain", "word"]


WRONG: list[tuple[Any, str]] = [
    ("{", "not JSON"),
    ("[1]", "not an object"),
    ({"conversations": 3}, "not an object"),
    ([], "no question"),
    ([{"qa": []}], "session_1"),
    ([{"sessions": [], "questions": 3}], "not a list"),
    ([{"sessions": [{"messages": [{"id": "x"}]}], "questions": []}], "message 1 has no text"),
    ([{"sessions": [{"messages": [{"id": "x", "text": "a"}] * 2}], "questions": []}], "same id"),
    ([{**LOCOMO, "qa": [{"evidence": ["D1:1"]}]}], "question"),
    ([{**LOCOMO, "qa": QA[2:]}], "no question whose evidence"),
]


@pytest.mark.parametrize(("content", "says"), WRONG)
def test_a_file_that_is_no_dataset_is_one_clear_line(tmp_path: Path, content: Any, says: str) -> None:
    refused = evaluate("--data", written(tmp_path, content))
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert len(refused.stderr.splitlines()) == 1
    assert says in refused.stderr


def test_a_file_that_is_not_there_is_a_failure_and_no_file_is_wrong_usage(tmp_path: Path) -> None:
    assert evaluate("--data", str(tmp_path / "none.json")).exit_code == 1
    assert evaluate("--data", str(tmp_path)).exit_code == 1
    assert evaluate().exit_code == 2


def test_search_memory_finds_more_of_the_example_than_either_baseline_in_both_languages() -> None:
    shown = evaluate("--data", str(EXAMPLE), "--json")
    report = json.loads(shown.stdout)
    assert (report["questions"], report["leftOut"], report["unknownEvidence"]) == (63, 0, 0)
    assert set(report["categories"]) == {"es", "en", "es-en", "en-es"}
    for measured in (report, *report["categories"].values()):
        recall = measured["recall"]
        assert recall["search_memory"]["10"] > max(recall["bm25"]["10"], recall["overlap"]["10"])
    assert report["recall"]["search_memory"]["10"] > 0.8


async def test_messages_are_found_by_meaning_too_where_an_embedder_is_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [{"id": "m1", "text": "I work as a nurse"}, *({"text": f"Money back on day {at}"} for at in range(8))]
    asked = [{"question": "¿cuál es mi profesion?", "evidence": ["m1"]}]
    entry = {"id": "ana", "sessions": [{"date": "2026-01-05", "messages": said}], "questions": asked}
    data = written(tmp_path, {"conversations": [entry]})
    async with embedding_server() as server:
        shares = {"none": 0.0, "openai": 1.0}
        monkeypatch.setenv("NEXUS_EMBEDDINGS_BASE_URL", server.base_url)
        for kind, share in shares.items():
            monkeypatch.setenv("NEXUS_EMBEDDINGS", kind)
            shown = await asyncio.to_thread(evaluate, "--data", data, "--json")
            assert json.loads(shown.stdout)["recall"]["search_memory"]["5"] == share
        server.status = 500
        failed = await asyncio.to_thread(evaluate, "--data", data)
        assert (failed.exit_code, failed.stdout) == (1, "")
        assert "NEXUS_EMBEDDINGS" in failed.stderr


def test_the_baselines_rank_by_what_they_are_named_after() -> None:
    texts = ["the cat sat", "the dog ran far away over the hill", "cat cat cat food"]
    assert WordOverlap(texts).rank("The cat?", 3) == [0, 2, 1]
    assert PlainBm25(texts).rank("cat", 3) == [2, 0]
    assert PlainBm25([]).rank("cat", 3) == []
