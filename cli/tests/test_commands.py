"""Commands that need no server: tokens, help, wrong usage, and what the doctor says of a bare machine."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jwt
import pytest
from typer.testing import CliRunner, Result

from nexus_cli.commands import migrate
from nexus_cli.commands.options import terminal_language
from nexus_cli.main import app
from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.tool_calls import read_arguments
from runtime.testing.servers import eventually

HELP = Path(__file__).parent / "help"
COMMANDS = [
    "",
    "up",
    "down",
    "chat",
    "ask",
    "tools",
    "call",
    "token",
    "env",
    "company",
    "doctor",
    "serve",
    "dlq",
    "trace",
    "eval",
    "knowledge",
    "marks",
    "replay",
    "migrate",
    "drill",
    "erase",
    "erasures",
]


@pytest.fixture(autouse=True)
def a_newcomers_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of the machine that the tests run on, and no `.env` either."""
    for name in ("NEXUS_JWT_SECRET", "NEXUS_NATS_URL", "NEXUS_REDIS_URL", "NEXUS_MONGODB_URL", "NEXUS_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def nexus(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"})


def test_marks_are_not_demanded_with_a_key_that_no_service_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXUS_NATS_URL", "nats://127.0.0.1:9")
    monkeypatch.delenv("NEXUS_MARK_KEY", raising=False)
    refused = nexus("marks", "demand", "--data", str(tmp_path / "data"))
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "NEXUS_MARK_KEY" in refused.stderr
    assert not (tmp_path / "data").exists()


def test_a_token_stands_alone_on_standard_output_and_is_signed_by_the_data_directorys_secret(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data"))
    refused = nexus("token", "--role", "user", *data)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "no stack has run on" in refused.stderr
    assert not (tmp_path / "data").exists()
    DataDirectory(tmp_path / "data").secrets()
    printed = nexus("token", "--role", "user", "--plan", "pro", *data)
    assert printed.exit_code == 0
    lines = printed.stdout.splitlines()
    assert len(lines) == 1
    secret = DataDirectory(tmp_path / "data").secrets().jwt_secret
    claims = jwt.decode(lines[0], secret, algorithms=["HS256"])
    expected = {"sub": "demo-pro", "role": "user", "company": "demo", "plan": "pro"}
    assert {key: claims[key] for key in expected} == expected


def test_a_secret_in_the_environment_signs_instead(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NEXUS_JWT_SECRET", "s" * 40)
    printed = nexus("token", "--role", "admin", "--user", "ada", "--company", "acme", "--data", str(tmp_path))
    claims = jwt.decode(printed.stdout.strip(), "s" * 40, algorithms=["HS256"])
    assert (claims["sub"], claims["role"], claims["company"]) == ("ada", "admin", "acme")


@pytest.mark.parametrize("arguments", [("--company", "No Such"), ("--user", "a.b"), ("--user", "*")])
def test_an_id_that_cannot_be_one_is_wrong_usage(arguments: tuple[str, str]) -> None:
    refused = nexus("token", "--role", "user", *arguments)
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert len(refused.stderr.splitlines()) == 1
    assert f"'{arguments[1]}' is not valid" in refused.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("erase", "user", "ana maria", "--yes"),
        ("erase", "user", "ana", "--company", "No Such", "--yes"),
        ("erasures", "a receipt"),
        ("knowledge", "gaps", "--company", "No Such"),
        ("tools", "--company", "No Such"),
        ("env", "--company", "No Such"),
        ("chat", "--url", "localhost:8080"),
        ("drill", "--process", "agnt"),
        ("company", "show", "x/../demo"),
        ("company", "set", "acme", "assistant=null", "assistant.name=Ada"),
        ("company", "set", "acme", 'ownTools.http=[{"name": "a",]'),
    ],
)
def test_what_can_be_no_id_and_no_setting_is_wrong_usage(arguments: tuple[str, ...], tmp_path: Path) -> None:
    refused = nexus(*arguments, "--data", str(tmp_path / "nothing"))
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1), refused.output


@pytest.mark.parametrize(
    "arguments",
    [("token",), ("token", "--role", "king"), ("up", "--port", "x"), ("serve", "nothing"), ("nonsense",), ("ask",)],
)
def test_wrong_usage_is_exit_code_2(arguments: tuple[str, ...]) -> None:
    assert nexus(*arguments).exit_code == 2


@pytest.mark.parametrize(
    "arguments", [("chat",), ("tools",), ("call", "get_price"), ("dlq", "list"), ("trace", "t1"), ("replay", "c1")]
)
def test_without_a_stack_a_command_says_how_to_start_one(arguments: tuple[str, ...], tmp_path: Path) -> None:
    refused = nexus(*arguments, "--data", str(tmp_path / "nothing"))
    assert refused.exit_code == 1
    assert "nexus up" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_as_documented(command: str) -> None:
    shown = nexus(*filter(None, [command]), "--help")
    assert shown.exit_code == 0
    text = re.sub(r" +$", "", shown.stdout, flags=re.MULTILINE).strip() + "\n"
    assert text == (HELP / f"{command or 'nexus'}.txt").read_text()


def test_the_doctor_finds_nothing_wrong_with_a_fresh_installation(tmp_path: Path) -> None:
    examined = nexus("doctor", "--json", "--data", str(tmp_path))
    findings = {finding["subject"]: finding for finding in json.loads(examined.stdout)}
    assert examined.exit_code == 0
    assert {"python", "nats-server", "valkey-server", "nx-27017", "gateway", "model", "disk", "stack"} <= set(findings)
    assert findings["stack"]["advice"]


def test_the_doctor_names_what_does_not_answer_and_values_that_cannot_be_without_showing_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NEXUS_MONGODB_URL", "mongodb://ada:geheim@127.0.0.1:1/nexus?authSource=admin")
    monkeypatch.setenv("GROQ_API_KEY", "gsk-geheim")
    monkeypatch.setenv("NEXUS_NATS_PING_INTERVAL", "geheim")
    examined = nexus("doctor", "--data", str(tmp_path))
    assert examined.exit_code == 1
    assert "127.0.0.1:1" in examined.stdout
    assert "✗ settings        NEXUS_NATS_PING_INTERVAL: Input should be a valid integer" in examined.stdout
    assert "geheim" not in examined.stdout


@pytest.mark.parametrize("command", [("doctor",), ("up",), ("top",)])
def test_a_file_of_settings_that_is_no_text_is_told_in_one_line(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_bytes(b"NEXUS_LOG_LEVEL=\xff\xfe")
    monkeypatch.chdir(tmp_path)
    refused = nexus(*command)
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (1, 1), refused.output
    assert ".env in this folder is not UTF-8 text" in refused.stderr


@pytest.mark.parametrize("damaged", ["{", "[]", '{"jwt_secret": "x"}'])
@pytest.mark.parametrize("command", [("up",), ("token", "--role", "user")])
def test_damaged_secrets_are_told_in_one_line(command: tuple[str, ...], damaged: str, tmp_path: Path) -> None:
    (tmp_path / "secrets.json").write_text(damaged)
    refused = nexus(*command, "--data", str(tmp_path))
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (1, 1), refused.output
    assert "secrets.json is damaged: put back the one of a backup" in refused.stderr


def test_arguments_of_a_tool_take_the_types_that_it_declares() -> None:
    schema = {"properties": {"symbol": {"type": "string"}, "tickers": {"type": "array", "items": {"type": "string"}}}}
    words = ["symbol=600", "capital=10000", "tickers=A,B", "deep=true", "text=plain=text"]
    expected = {"symbol": "600", "capital": 10000, "tickers": ["A", "B"], "deep": True, "text": "plain=text"}
    assert read_arguments(words, schema) == expected
    with pytest.raises(ValueError, match="key=value"):
        read_arguments(["symbol"], schema)


@pytest.mark.parametrize(
    ("locale", "language"),
    [
        ({"LANG": "en_GB.UTF-8"}, "en"),
        ({"LANG": "es_PE.UTF-8"}, "es"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "es_ES.UTF-8"}, "es"),
        ({"LANG": "C.UTF-8"}, "es"),
        ({}, "es"),
    ],
)
def test_texts_are_in_the_language_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch, locale: dict[str, str], language: str
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in locale.items():
        monkeypatch.setenv(name, value)
    assert terminal_language() == language


def test_it_says_which_release_it_is() -> None:
    said = nexus("--version")
    assert said.exit_code == 0
    assert re.fullmatch(r"nexus \d+\.\d+\.\d+\n", said.stdout)


async def test_who_waits_for_memorys_migrations_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(migrate, "NOTICE_SECONDS", 0.0)
    said = ""

    async def answer() -> str:
        async def told() -> bool:
            nonlocal said
            said += capsys.readouterr().err
            return "memory has not answered yet" in said

        await eventually(told)
        return "an answer"

    assert await migrate.answer_of(answer()) == "an answer"


def test_a_data_directory_that_cannot_be_written_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = nexus("up", "--data", str(tmp_path / "file" / "data"))
    assert result.exit_code == 1
    assert result.output == (
        f"nexus: {tmp_path}/file/data: Not a directory: choose another directory with --data, or change that\n"
    )
