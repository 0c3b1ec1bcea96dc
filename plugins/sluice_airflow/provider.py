"""The connection types that Airflow's form offers for Sluice, and which Airflow itself does not have.

Airflow finds this through the wheel, or in a checkout through `sluice.dist-info` beside this package. Airflow's
provider for PostgreSQL would bring two more drivers along. Where a provider is installed all the same, its type is left
to it.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from airflow.sdk import BaseHook


class Postgres(BaseHook):
    """A name for the form; Sluice's jobs open their connections by themselves."""

    conn_name_attr = "postgres_conn_id"
    default_conn_name = "postgres_default"
    conn_type = "postgres"
    hook_name = "Postgres"


class MySql(BaseHook):
    """The same for MariaDB, whose connections Airflow calls so."""

    conn_name_attr = "mysql_conn_id"
    default_conn_name = "mysql_default"
    conn_type = "mysql"
    hook_name = "MySQL"


class Oracle(BaseHook):
    """The same."""

    conn_name_attr = "oracle_conn_id"
    default_conn_name = "oracle_default"
    conn_type = "oracle"
    hook_name = "Oracle"


class Http(BaseHook):
    """The same."""

    conn_name_attr = "http_conn_id"
    default_conn_name = "http_default"
    conn_type = "http"
    hook_name = "HTTP"


# What the form calls the schema, and what it shows in empty fields.
_TYPES: list[tuple[type[BaseHook], str, dict[str, str]]] = [
    (Postgres, "Database", {"port": "5432", "extra": '{"sslmode": "require"}'}),
    (MySql, "Database", {"port": "3306", "extra": '{"sslmode": "require"}'}),
    (Oracle, "Service name", {"port": "1521", "extra": '{"protocol": "tcps"}'}),
    (Http, "Schema (http or https)", {"host": "localhost", "port": "8080"}),
]


def info() -> dict[str, Any]:
    """The facts that Airflow asks of a provider."""
    return {
        "package-name": "sluice",
        "name": "Sluice",
        "description": "Replicates one master database to any number of slaves",
        "connection-types": [
            {
                "connection-type": hook.conn_type,
                "hook-name": hook.hook_name,
                "hook-class-name": f"{__name__}.{hook.__name__}",
                "ui-field-behaviour": {"relabeling": {"schema": schema}, "placeholders": shown},
            }
            for hook, schema, shown in _TYPES
            if not _has_provider(hook.conn_type)
        ],
    }


def _has_provider(kind: str) -> bool:
    return find_spec(f"airflow.providers.{kind}") is not None
