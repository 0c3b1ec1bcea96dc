"""Pages of the reference that are made from the code: `./sluice docs --reference` writes them, and a test compares."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from sluice import error_codes, paths
from sluice.config import configuration
from sluice.dev.dags_page import dags_page
from sluice.dev.keys_page import keys_page
from sluice.dev.markdown import cell, sentence
from sluice.dev.rest_page import rest_page

Page = Callable[[argparse.ArgumentParser], str]

_DOCS = paths.PROJECT / "include" / "docs"
_COMMANDS = """# Commands

This page is made from the command line itself, which says the same with `--help`. SOURCE and SLAVE are names of the
[configuration](configuration.md). A command ends with 0 if it did what it says; `status` and `check` end with 1 if
something is not well. An error goes to stderr, with a [code](errors.md) and what to type next.
"""
_ERRORS = """# Error codes

Each error of Sluice has a code, a fact and a HINT. This page has every code: its meaning, what is safe, and what to
type. `./sluice explain SLC-041` prints the entry of one code. Longer procedures are in the [runbook](runbook.md).

The third column, *what is safe*, uses these words:

- *Tried again*: the task retries by itself. Act only if the error does not stop.
- *Terminal*: a person must act.
- *Blocked*: the drain of the slave stops before this transaction until a person acts. The slave has nothing of it, and
  the change log keeps everything.

A terminal error in a drain is a standby by EXCEPTION. Its HINT ends with the complete commands. After the repair, wait
until the failed run has ended, then unpause the DAG (`./sluice unpause SOURCE SLAVE`). After `initial_update` you need
not unpause: its task `release` does it, unless a person paused the DAG.
"""


def write(whole: argparse.ArgumentParser) -> int:
    """Write each page; the parser is the command line's."""
    for name, page in {**PAGES, **DAG_PAGES}.items():
        (_DOCS / name).write_text(page(whole), encoding="utf-8")
        print(f"wrote {_DOCS / name}")
    return 0


def outdated_pages(whole: argparse.ArgumentParser, pages: Mapping[str, Page]) -> list[Path]:
    """The pages that say something else than the code."""
    return [_DOCS / name for name, page in pages.items() if (_DOCS / name).read_text(encoding="utf-8") != page(whole)]


def commands_page(whole: argparse.ArgumentParser) -> str:
    """The page of the command line."""
    (choices,) = (action for action in whole._actions if isinstance(action, argparse._SubParsersAction))
    helps = {command.dest: command.help for command in choices._choices_actions}
    sections = (_command(name, command, helps[name] or "") for name, command in choices.choices.items())
    return "\n".join([_COMMANDS, *sections])


def errors_page(_: argparse.ArgumentParser) -> str:
    """The page of error codes."""
    parts = [_ERRORS]
    for title, entries in error_codes.sections().items():
        parts += [f"## {title}", "", "| code | meaning | what is safe | what to type |", "|---|---|---|---|"]
        for entry in entries:
            parts.append(f"| {entry.code} | {cell(entry.meaning)} | {cell(entry.safe)} | {cell(entry.remedy)} |")
        parts.append("")
    return "\n".join(parts)


def _command(name: str, command: argparse.ArgumentParser, help_text: str) -> str:
    actions = [action for action in command._actions if not isinstance(action, argparse._HelpAction)]
    places = [_place(action) for action in actions if not action.option_strings]
    lines = [f"## {name}", "", f"{sentence(help_text)}", "", f"`{' '.join(['./sluice', name, *places])}`", ""]
    if actions:
        lines += ["| | |", "|---|---|", *_rows(actions), ""]
    return "\n".join(lines)


def _rows(actions: list[argparse.Action]) -> Iterator[str]:
    for action in actions:
        words = [" ".join([*action.option_strings[:1], *([_value(action)] if action.nargs != 0 else [])])]
        yield f"| `{words[0].strip()}` | {cell(sentence(action.help or ''))} |"


def _place(action: argparse.Action) -> str:
    """A positional argument, as in a line of usage."""
    form: Mapping[object, str] = {"?": "[{}]", "*": "[{} ...]", "+": "{} ..."}
    return form.get(action.nargs, "{}").format(_value(action))


def _value(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    return f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper()


PAGES: Mapping[str, Page] = {
    "commands.md": commands_page,
    "errors.md": errors_page,
    "keys.md": lambda _: keys_page(configuration.schema()),
    "rest.md": lambda _: rest_page(),
}
# It needs Airflow, which the others do without.
DAG_PAGES: Mapping[str, Page] = {"dag_params.md": lambda _: dags_page()}
