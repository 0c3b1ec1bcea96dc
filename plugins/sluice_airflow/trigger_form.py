"""The fields of our trigger forms, as Airflow 3.3's form understands them.

A field whose type has no "null" is required there: it has a star, and the button stays disabled while it is empty. So
what may be left empty says so by its type, and what has to be chosen has no default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow.sdk import Param

from sluice.config.configuration import Config

ADVANCED = "Advanced"
# The form shows the choice None under this key.
_NONE = "None"


def source(config: Config, more: str = "") -> dict[str, Param]:
    """Which master; chosen already if there is only one.

    Args:
        more: what its description says besides.
    """
    names = list(config.sources)
    default = {"default": names[0]} if len(names) == 1 else {}
    described = f"The master database, as configured.{more}"
    return {"source": Param(**default, type="string", enum=names, title="Source", description=described)}


def slaves(config: Config, more: str = "") -> dict[str, Param]:
    """One or several slaves. None is chosen already: what fills them replaces what they hold.

    Args:
        more: what its description says besides.
    """
    labels = _labels(config)
    return {
        "slaves": Param(
            type="array",
            minItems=1,
            uniqueItems=True,
            # `items` is what validates; `examples` is what makes the form a multiple choice.
            items={"type": "string", "enum": list(labels)},
            examples=list(labels),
            values_display=labels,
            title="Slaves",
            description=f"One or more slave databases of that source.{more}",
        )
    }


def slave(config: Config) -> dict[str, Param]:
    """One slave."""
    labels = _labels(config)
    return {
        "slave": Param(
            type="string",
            enum=list(labels),
            values_display=labels,
            title="Slave",
            description="A slave database of that source.",
        )
    }


def tables(config: Config, *, what: str) -> dict[str, Param]:
    """Some of the watched tables; none is all. Where the configuration has a wildcard, only the source knows which
    there are, so that names are written, one a line.

    Args:
        what: is done to them.
    """
    entries = [
        entry for source in config.sources.values() for entry in zip(source.tables, source.patterns, strict=True)
    ]
    names = sorted({name for name, pattern in entries if not (pattern.wildcard or pattern.excluded)})
    if any(pattern.wildcard for _, pattern in entries):
        choices: dict[str, Any] = {"items": {"type": "string"}}
        how = "One schema.table a line, as the master calls it. "
    else:
        choices, how = {"items": {"type": "string", "enum": names}, "examples": names}, ""
    return {"tables": optional("array", title="Tables", description=f"{how}Empty: every table {what}.", **choices)}


def choice(values: Mapping[str | None, str], default: str | None = None, **schema: Any) -> Param:
    """A drop-down.

    Args:
        values: what can be chosen, and how the form shows it; None is the empty choice.
    """
    kind = ["string", "null"] if None in values else "string"
    shown = {name if name is not None else _NONE: label for name, label in values.items()}
    return Param(default, type=kind, enum=list(values), values_display=shown, **schema)


def optional(kind: str, default: Any = None, **schema: Any) -> Param:
    """A field that may be left empty."""
    return Param(default, type=[kind, "null"], **schema)


def switch(title: str, description: str, **schema: Any) -> Param:
    """Off unless somebody switches it on."""
    return optional("boolean", default=False, title=title, description=description, **schema)


def key_ranges(description: str, **schema: Any) -> Param:
    """Ranges of keys, one a line."""
    # A blank line is no range.
    items = {"type": "string", "pattern": r"^\s*(\S+\s*:.*\.\..*)?$"}
    return optional("array", items=items, title="Key ranges", description=description, **schema)


def initial_update(config: Config) -> dict[str, Param]:
    """How slaves are filled. What is seldom needed is in a section of its own."""
    pairs = [f"{replication.source}/{replication.slave}" for replication in config.replications]
    return {
        "store_initial_data": switch(
            "Store in files", "Store the data in files, which somebody carries to the slaves' machines."
        ),
        "mode": choice(
            {
                "snapshot": "snapshot: all tables as they are at one moment",
                "online": "online: block by block, while changes are delivered",
                "external": "external: programs bring the rows",
                None: "as usual (snapshot)",
            },
            "snapshot",
            section=ADVANCED,
            title="Mode",
            description="How rows come to the slaves.",
        ),
        "key_ranges": key_ranges(
            "Mode online only: one range a line, as in public.legs: 2013, 1 .. 2013, 12. Empty: all rows.",
            section=ADVANCED,
        ),
        "version": optional(
            "string",
            section=ADVANCED,
            title="Version",
            description="An older version of the data that was kept, as prefix_Ver_x. Empty: the newest.",
        ),
        "resume": switch("Resume", "Go on where an earlier update of these slaves broke off.", section=ADVANCED),
        "force": switch("Force", "Cancel the updates that these slaves are in.", section=ADVANCED),
        "cascade": choice(
            {None: "as before", "none": "nothing", **{pair: pair.replace("/", " -> ") for pair in pairs}},
            section=ADVANCED,
            title="Fill next",
            description="A replication that is filled when these slaves are NORMAL, now and after later updates.",
        ),
    }


def _labels(config: Config) -> dict[str, str]:
    """The slaves, each with its sources if there are several of these."""
    if len(config.sources) == 1:
        return {name: name for name in config.slaves}
    fed = {
        name: [replication.source for replication in config.replications if replication.slave == name]
        for name in config.slaves
    }
    return {name: f"{name} (of {', '.join(sources)})" if sources else name for name, sources in fed.items()}
