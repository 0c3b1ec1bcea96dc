"""The settings of the pages in Airflow's UI."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from sluice.config.fields import Name, RoleName
from sluice.config.models import Section
from sluice.model.access import Role
from sluice.model.list_column import ListColumn
from sluice.model.page_text import PAGE_TEXTS, FormChoice, PageText

PageWords = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]


class Pages(Section):
    """The look of [Sluice's pages in Airflow](monitoring.md), and who may do what there and in their REST API. Upper
    and lower case of Airflow's roles are equal. A person with several roles has the most powerful one. A person with
    none of them sees nothing. An action that begins a run needs a role of `command_roles` as well. [Airflow's
    rights](monitoring.md#roles) count for people without roles in Airflow if that is `airflow`.
    """

    refresh_s: Annotated[float, Field(ge=1, le=3_600, description="seconds until an open page looks again")] = 5
    title: Annotated[
        str,
        Field(
            max_length=60, description="a text at the top of each page and in the browser's tab, such as `production`"
        ),
    ] = ""
    columns: Annotated[
        tuple[ListColumn, ...],
        Field(
            min_length=1,
            description="the columns of the list of replications, after the name, in this order. `lag` and `rate` are "
            "lines of the last hour",
        ),
    ] = tuple(ListColumn)
    names: dict[Name, PageWords] = Field(
        default={},
        description="sources and slaves to the texts that the pages show for them, such as `zurich: Zürich hub`. "
        "Their own names stand beside it, and are used everywhere else",
    )
    texts: dict[PageText, PageWords] = Field(
        default={},
        description="columns of the list, properties and controls in words of your own. Tooltips, questions and "
        "messages stay as they are",
    )
    form: Annotated[
        tuple[FormChoice, ...],
        Field(
            description="the choices of the form of an initial update, beside source and slaves. `[]` is the guide's "
            "simple form, `[next]` its cascaded one; `files` is its `show.initialFilesLocation`. A choice that is "
            "not offered is the default: mode `snapshot`, no files, next as before, nothing resumed"
        ),
    ] = tuple(FormChoice)
    viewer: Annotated[tuple[RoleName, ...], Field(description="roles in Airflow that may look")] = ()
    user: Annotated[
        tuple[RoleName, ...],
        Field(description="roles in Airflow that may switch dispatchers to standby and active as well"),
    ] = ("user",)
    initiator: Annotated[
        tuple[RoleName, ...],
        Field(description="roles in Airflow that may begin initial updates and comparisons as well"),
    ] = ("op",)
    admin: Annotated[tuple[RoleName, ...], Field(description="roles in Airflow that may do everything")] = ("admin",)
    users: dict[str, Role] = Field(
        default={}, description="users of Airflow with a role of their own, whatever their roles in Airflow are"
    )
    metrics_token_file: Annotated[
        str | None,
        Field(
            pattern="^/",
            description="a file with the token by which [Prometheus](monitoring.md#prometheus) reads the metrics, and "
            "nothing else; 16 characters or more, readable by the API server alone",
        ),
    ] = None

    @property
    def roles(self) -> dict[Role, tuple[str, ...]]:
        """Airflow's roles that lead to each of ours."""
        return {
            Role.VIEWER: self.viewer,
            Role.USER: self.user,
            Role.INITIATOR: self.initiator,
            Role.ADMIN: self.admin,
        }

    @property
    def words(self) -> dict[str, str]:
        """The texts of columns and controls, by their keys."""
        return {text_key.value: self.texts.get(text_key, text) for text_key, text in PAGE_TEXTS.items()}
