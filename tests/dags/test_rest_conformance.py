"""Programs that send what the description of the REST API allows, and what it does not: the answer is as described."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from fastapi.dependencies.utils import get_flat_dependant
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks
from support.fuzzing import examples
from support.pages import BODIES, at, routes, token
from support.world import SOURCE

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
CHECKED = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    checks.missing_required_header,
    checks.unsupported_method,
]
# The same ones in every run of the same code. How long an answer takes says something of the machine.
BOUNDED = settings(
    max_examples=examples(5, 8),
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
KNOWN = {"source": SOURCE, "slave": "zurich"}


@pytest.fixture
def program(pages_world, visit, people):
    """A program of an administrator."""
    return visit(None, Authorization=f"Bearer {token(people, 'admin')}")


def cases(operation) -> Iterator[tuple[GenerationMode, Any]]:
    """What the document allows, and what it does not; of replications that there are, and of others."""
    named = {name: KNOWN[name] for name in KNOWN if f"{{{name}}}" in operation.path}
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        yield mode, operation.as_strategy(generation_mode=mode)
        if named:
            yield mode, operation.as_strategy(generation_mode=mode, path_parameters=named)


@pytest.mark.full
def test_rest_answers_as_its_description_says(program, address):
    document = program.get("/api/v1/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=f"http://127.0.0.1:{address}/sluice")
    # What is too long is refused before it is read.
    rejection = schema.config.checks.negative_data_rejection
    rejection.expected_statuses = [*rejection.expected_statuses, "413"]
    faults = []
    for found in schema.get_all_operations():
        operation = found.ok()
        for mode, strategy in cases(operation):

            @BOUNDED
            @given(case=strategy)
            def answered(case: Case) -> None:
                # Airflow hands no address with a line break to a plugin, and answers it in its own words.
                assume("%0A" not in case.formatted_path)
                headers = {"Authorization": program.headers["Authorization"]}
                case.call_and_validate(headers=headers, checks=CHECKED, timeout=60)

            try:
                answered()
            except Unsatisfiable:
                # Nothing of a request without a body or a query can be wrong.
                assert mode is GenerationMode.NEGATIVE
            except (Exception, BaseExceptionGroup) as error:
                faults.append(f"{operation.label}: {error}")
    assert not faults, "\n".join(faults)


NASTY = {
    "NUL": "%00",
    "no UTF-8": "%ff%fe",
    "a surrogate": "%ed%a0%80",
    "a number of 5,000 digits": "9" * 5_000,
    "beyond 64 bits": str(2**64),
    "less than nothing": "-1",
    "neither number nor text": "NaN",
    "SQL": "%27%3B%20DROP%20TABLE%20audit%3B--",
    "HTML": "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
    "a way up": "%2e%2e%2f%2e%2e",
    "dots": "..",
    "a line break": "%0A",
    "a pattern": "%25_%5C",
    "nothing": "%20",
}
NASTY_BODIES = {
    "not UTF-8": b"\xff\xfe\x00",
    "not JSON": b"{",
    "nothing": b"",
    "null": b"null",
    "a list": b"[]",
    "a number of 5,000 digits": b'{"ordinal": ' + b"9" * 5_000 + b"}",
    "beyond 64 bits": b'{"ordinal": 18446744073709551616}',
    "not finite": b'{"ordinal": Infinity, "extent": NaN}',
    "30,000 deep": b"[" * 30_000,
    "a surrogate": b'{"source": "\\ud800", "slaves": ["\\ud800"], "cascade": "\\ud800/\\ud800"}',
    "NUL": b'{"source": "\\u0000", "slaves": ["\\u0000"]}',
    "NUL in a known source": b'{"source": "flights", "slaves": ["zurich"], "cascade": "\\u0000/\\u0000"}',
    "unknown": b'{"source": "flights", "slaves": ["zurich", "nobody"]}',
    "twice": b'{"source": "flights", "slaves": ["zurich", "zurich"], "cascade": "flights/zurich"}',
}


def nasty(route: APIRoute) -> Iterator[tuple[str, str, bytes | None]]:
    """What is wrong, the address, and the body."""
    right = BODIES.get(route.path.rpartition("/")[2])
    wanted = json.dumps(right).encode() if right else None
    for what, text in NASTY.items():
        for one in get_flat_dependant(route.dependant).query_params:
            yield f"{one.alias} is {what}", f"{at(route)}?{one.alias}={text}", None
        for name in route.param_convertors:
            yield f"{name} is {what}", at(route, **{name: text}), wanted
    for what, body in NASTY_BODIES.items() if route.body_field else ():
        yield f"the body is {what}", at(route), body


@pytest.mark.full
def test_no_text_of_others_breaks_a_page_or_a_command(program):
    faults = []
    for route in routes():
        (method,) = route.methods
        for what, address, body in nasty(route):
            answer = program.request(method, address, content=body, headers={"Content-Type": "application/json"})
            shown = "" if "json" in answer.headers["content-type"] else answer.text
            if answer.status_code >= 500 or "<script>alert" in shown:
                faults.append(f"{method} {route.path}, {what}: {answer.status_code} {answer.text[:500]}")
    assert not faults, "\n".join(faults)
