"""What commands print goes through one place, which leaves no sign of a terminal in it."""

from __future__ import annotations

import ast
from pathlib import Path

SLUICE = Path(__file__).resolve().parents[2] / "include" / "sluice"
# Rooms that print for a program, as JSON, and those that only a checkout has, for its tests.
OTHERS = ("spark", "dev")
STREAMS = {("sys", "stdout"), ("sys", "stderr")}


def prints(module: ast.Module) -> bool:
    """Whether a module prints, or writes to a stream of its process as text."""
    for node in ast.walk(module):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id == "print":
            return True
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("write", "writelines"):
            stream = node.func.value
            if isinstance(stream, ast.Attribute) and (getattr(stream.value, "id", ""), stream.attr) in STREAMS:
                return True
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("print_exception", "print_exc", "print_stack"):
            return True
    return False


def test_one_module_prints():
    printing = {
        file.relative_to(SLUICE).as_posix()
        for file in SLUICE.rglob("*.py")
        if file.relative_to(SLUICE).parts[0] not in OTHERS and prints(ast.parse(file.read_text(encoding="utf-8")))
    }
    assert printing == {"outside_text.py"}
