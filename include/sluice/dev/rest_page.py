"""The page of the REST API, made from the application's description of itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, cast

from fastapi.routing import APIRoute

from sluice.dev.markdown import cell
from sluice.dev.value_types import describe_type
from sluice.model.access import Right, Role
from sluice.pages.airflow import Airflow
from sluice.pages.app import application

_PREFIX = "/api/v1"
_INTRODUCTION = """# REST

This page is made from the application that answers: `/sluice/api/v1/openapi.json` of Airflow's API server describes the
same in full. A path begins with `/sluice/api/v1`. The role is the least that may ask: `user`, `initiator` or `admin`
([roles](monitoring.md#roles)). A token comes from Airflow's `/auth/token`:

```
curl -H "Authorization: Bearer $TOKEN" http://localhost:8080/sluice/api/v1/replications
curl -H "Authorization: Bearer $TOKEN" -X POST http://localhost:8080/sluice/api/v1/replications/shop/warehouse/standby
```

A `GET` takes its values from the query, a `POST` from a JSON object. *Required* marks a value that must be there. An
error is `{"code": 20, "fact": ..., "hint": ...}`, with the [codes](errors.md) of Sluice.
"""


def rest_page() -> str:
    """The page."""
    app = application(cast(Airflow, None))
    described = app.openapi()
    routes = [route for route in app.routes if isinstance(route, APIRoute) and route.path in described["paths"]]
    models = described["components"]["schemas"]
    parts = [_INTRODUCTION]
    for title, group in groupby(sorted(routes, key=_resource), _resource):
        parts += [f"## {title}", "", "| call | role | what it does | values |", "|---|---|---|---|"]
        parts += [_row(route, described["paths"][route.path], models) for route in group]
        parts.append("")
    return "\n".join(parts)


def _resource(route: APIRoute) -> str:
    return route.path.removeprefix(_PREFIX).split("/")[1]


def _row(route: APIRoute, methods: dict[str, Any], models: dict[str, Any]) -> str:
    (method,) = route.methods
    described = methods[method.lower()]
    (right,) = (cast(Any, dependency.dependency).right for dependency in route.dependencies)
    path = route.path.removeprefix(_PREFIX)
    text = " ".join(described["description"].split())
    return f"| `{method} {path}` | {_role(right)} | {cell(text)} | {cell('; '.join(_values(described, models)))} |"


def _role(right: Right) -> Role:
    return next(role for role in Role if right in role.rights)


def _values(described: dict[str, Any], models: dict[str, Any]) -> Iterator[str]:
    for parameter in described.get("parameters", []):
        if parameter["in"] == "query":
            yield _value(parameter["name"], parameter["schema"], models, required=parameter["required"])
    for content in described.get("requestBody", {}).get("content", {}).values():
        model = models[content["schema"]["$ref"].rpartition("/")[2]]
        for name, schema in model["properties"].items():
            yield _value(name, schema, models, required=name in model.get("required", []))


def _value(name: str, schema: dict[str, Any], models: dict[str, Any], *, required: bool) -> str:
    told = f": {schema['description']}" if "description" in schema else ""
    return f"`{name}` ({describe_type(schema, models)}{', required' if required else ''}){told}"
