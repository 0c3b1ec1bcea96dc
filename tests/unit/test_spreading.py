"""What becomes of tests whose process ends."""

import os
import subprocess
import sys

from sluice.paths import PROJECT

ORDER = """
import pytest
from support.spreading import OnceEach

@pytest.hookimpl
def pytest_xdist_make_scheduler(config, log):
    return OnceEach(config, log)
"""


def test_a_test_that_ends_its_process_fails_once_and_the_others_run(tmp_path):
    (tmp_path / "conftest.py").write_text(ORDER)
    for name in "abcdefgh":
        # Not while the worker is handed its next file.
        end = "import os, time; time.sleep(1); os._exit(1)" if name == "e" else "pass"
        bodies = ["import time; time.sleep(0.05)", end, "pass"]
        tests = [f"def test_{number}():\n    {body}\n" for number, body in enumerate(bodies)]
        (tmp_path / f"test_{name}.py").write_text("\n".join(tests))
    spread = ["-p", "xdist", "--numprocesses=2", "--dist=loadfile", "--no-loadscope-reorder"]
    paths = os.pathsep.join([str(PROJECT / "tests"), str(PROJECT / "include")])
    said = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, f"--rootdir={tmp_path}", *spread, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": paths, "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "1 failed, 23 passed" in said.stdout, said.stdout
    assert "test_e.py::test_1" in said.stdout
