"""Tables as datasets of lineage: which table's rows come from which one, by OpenLineage's rules for names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dataset:
    """A table. The namespace is the server it is on, and the name is unique there; neither says who may log in."""

    namespace: str
    name: str

    @classmethod
    def on_server(cls, scheme: str, host: str, port: int, *names: str) -> Dataset:
        """A table of a database server.

        Args:
            host: as connections have it: a name or an address, the first of several counts; a directory or nothing
                for a server of this machine.
            names: of the table and of what holds it, the outermost first.
        """
        first = host.split(",")[0].rpartition("@")[2].strip()
        if not first or first.startswith("/"):
            first = "localhost"
        authority = f"[{first}]" if ":" in first and not first.startswith("[") else first
        return cls(f"{scheme}://{authority}:{port}", ".".join(names))


@dataclass(frozen=True)
class TablePair:
    """A table of a master, and the table of a slave that gets its rows.

    Attributes:
        columns: those of the slave's table, each with the master's column that its values come from.
    """

    master: Dataset
    slave: Dataset
    columns: tuple[tuple[str, str], ...] = ()
