"""The settings of alerts: what people are told, and by what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, get_args
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from sluice.config.models import Section
from sluice.state.condition import Alerting

# The ways to people, and the options that each may and must have.
_OPTIONS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "smtp": (frozenset({"to", "cc", "from_email"}), frozenset({"to"})),
    "slack": (frozenset({"channel"}), frozenset({"channel"})),
    "slackwebhook": (frozenset(), frozenset()),
    "apprise": (frozenset({"tag"}), frozenset()),
}


@dataclass(frozen=True)
class AlertReceiver:
    """A way to people, an Airflow connection, and options."""

    way: str
    connection: str
    options: Mapping[str, str]

    @classmethod
    def parse(cls, text: str) -> AlertReceiver:
        """Read a text such as `smtp://smtp_default?to=dba@example.com`. Raises ValueError, it is none."""
        url = urlsplit(text)
        # An address may have a plus.
        given = parse_qsl(url.query.replace("+", "%2B"), keep_blank_values=True)
        options = dict(given)
        known = _OPTIONS.get(url.scheme)
        if known is None:
            raise ValueError(f"no way to people begins so; there is {', '.join(f'{way}://' for way in _OPTIONS)}")
        if not url.netloc or set(url.netloc) & set("@:") or url.path:
            raise ValueError(f"write {url.scheme}://CONNECTION, an Airflow connection's id; the secret is there")
        if url.fragment:
            raise ValueError("write %23 for a # in an option")
        if len(options) < len(given):
            raise ValueError("an option is given twice; for several addresses write commas between them")
        allowed, needed = known
        if set(options) - allowed or not all(options.get(name) for name in needed):
            takes = ", ".join(f"{name} (required)" if name in needed else name for name in sorted(allowed))
            raise ValueError(f"{url.scheme}:// takes {takes or 'no options'}")
        return cls(url.scheme, url.netloc, options)


def _receiver(value: str) -> str:
    AlertReceiver.parse(value)
    return value


class Alerts(Section):
    """[Alerts](monitoring.md#alerts): people are told what needs one, once when it begins and once when it is over."""

    to: Annotated[
        tuple[Annotated[str, AfterValidator(_receiver)], ...],
        BeforeValidator(
            lambda value: [value] if isinstance(value, str) else value, json_schema_input_type=str | list[str]
        ),
        Field(
            min_length=1,
            description="who is told, one or a list: `smtp://CONNECTION?to=dba@example.com` (also `cc`, "
            "`from_email`), `slack://CONNECTION?channel=ops`, `slackwebhook://CONNECTION`, `apprise://CONNECTION` "
            "(also `tag`). CONNECTION is the id of an Airflow connection",
        ),
    ]
    conditions: Annotated[
        tuple[Alerting, ...],
        Field(description="a replication has one of these [conditions](monitoring.md#conditions)"),
    ] = get_args(Alerting)
    failed_runs: Annotated[
        bool,
        Field(description="a run of another DAG of Sluice than drains and publishers failed, such as `verify`"),
    ] = True
    after_s: Annotated[
        float,
        Field(ge=0, le=86_400, description="seconds for which it has to hold until people are told; and to be over"),
    ] = 60
    every_s: Annotated[float, Field(ge=10, le=3_600, description="seconds from one look to the next")] = 60

    @property
    def receivers(self) -> dict[str, AlertReceiver]:
        """The receivers, by their texts in the file."""
        return {text: AlertReceiver.parse(text) for text in self.to}
