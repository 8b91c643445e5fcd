"""A test module that cannot be imported is never passed over, although workers are forks of a process that has imported
the others."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = """
[tool.pytest.ini_options]
addopts = ["--import-mode=importlib"]
asyncio_mode = "auto"
asyncio_default_fixture_loop_scope = "function"
"""


def test_a_module_that_cannot_be_imported_is_reported(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "test_broken.py").write_text("raise ValueError('broken')\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "1", "-p", "conftest", "broken"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert "ValueError: broken" in done.stdout, done.stdout + done.stderr
    assert done.returncode != 0
