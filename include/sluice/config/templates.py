"""One entry of the configuration for many slaves of one kind: what stands there is taken once for each name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

NAME = "{name}"


def each_by_itself(raw: Any) -> Any:
    """The file's content with an entry of its own for each slave, and for each replication of one.

    What has not the form of such an entry stays as it is, for the validation that follows.

    Raises:
        ValueError: two entries are about one slave.
    """
    if not _well_formed(raw):
        return raw
    slaves: dict[str, Any] = {}
    for entry, name in _slaves(raw):
        if name in slaves:
            raise ValueError(f"two entries of `slaves` are about {name}, {entry} is one of them")
        settings = raw["slaves"][entry]
        slaves[name] = (
            _fill_name({key: settings[key] for key in settings if key != "names"}, name)
            if _names(settings)
            else settings
        )
    return {**raw, "slaves": slaves, "replications": [pair for _, pair in _replications(raw)]}


def written_at(raw: Any, path: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The path of a key in the file, by its path in the result of `each_by_itself`."""
    if _well_formed(raw) and len(path) > 1:
        whole, part, *rest = path
        if whole == "slaves":
            return (whole, next((entry for entry, name in _slaves(raw) if name == part), part), *rest)
        if whole == "replications":
            return (whole, [number for number, _ in _replications(raw)][int(part)], *rest)
    return path


def _well_formed(raw: Any) -> bool:
    return (
        isinstance(raw, Mapping)
        and isinstance(raw.get("slaves"), Mapping)
        and isinstance(raw.get("replications"), list)
        and any(_names(entry) for entry in raw["slaves"].values())
    )


def _names(entry: Any) -> list[str]:
    """The slaves that an entry is for; none if it is an ordinary one."""
    names = entry.get("names") if isinstance(entry, Mapping) else None
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else []


def _slaves(raw: Any) -> Iterator[tuple[str, str]]:
    """Each entry, with each slave that it is for."""
    for entry, settings in raw["slaves"].items():
        yield from ((entry, name) for name in _names(settings) or [entry])


def _replications(raw: Any) -> Iterator[tuple[int, Any]]:
    """Each replication, with its number in the file; one that names a slave itself goes before that of its kind."""
    kinds = {entry: _names(settings) for entry, settings in raw["slaves"].items()}
    pairs = raw["replications"]
    alone = {_pair(pair) for pair in pairs if isinstance(pair, Mapping)}
    for number, entry in enumerate(pairs):
        kind = entry.get("slave") if isinstance(entry, Mapping) else None
        if not isinstance(kind, str) or not kinds.get(kind):
            yield number, entry
            continue
        each = ({**entry, "slave": name} for name in kinds[kind])
        yield from ((number, pair) for pair in each if _pair(pair) not in alone)


def _pair(entry: Mapping[str, Any]) -> tuple[str, str]:
    """The source and the slave of an entry, not validated."""
    return str(entry.get("source")), str(entry.get("slave"))


def _fill_name(value: Any, name: str) -> Any:
    """A part of an entry, with the slave's name where it is asked for."""
    if isinstance(value, str):
        return value.replace(NAME, name)
    if isinstance(value, Mapping):
        return {key: _fill_name(part, name) for key, part in value.items()}
    return [_fill_name(part, name) for part in value] if isinstance(value, list) else value
