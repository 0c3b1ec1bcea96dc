"""The settings of the pages in Airflow's UI."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from sluice.config.fields import Name, RoleName
from sluice.config.models import Part
from sluice.model.access import Role
from sluice.model.list_column import ListColumn
from sluice.model.page_text import PAGE_TEXTS, FormChoice, PageText

PageWords = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]


class Pages(Part):
    """The pages in Airflow's UI."""

    refresh_s: Annotated[float, Field(ge=1, le=3_600, description="seconds until a page looks again")] = 5
    title: Annotated[
        str, Field(max_length=60, description="a text at the top of each page, such as production or test")
    ] = ""
    columns: Annotated[
        tuple[ListColumn, ...], Field(min_length=1, description="columns of the list beside the name, in this order")
    ] = tuple(ListColumn)
    names: dict[Name, PageWords] = Field(default={}, description="what sources and slaves are called on the pages")
    texts: dict[PageText, PageWords] = Field(
        default={}, description="columns of the list and controls in words of your own"
    )
    form: Annotated[
        tuple[FormChoice, ...], Field(description="choices of the form of an initial update beside source and slaves")
    ] = tuple(FormChoice)
    user: Annotated[
        tuple[RoleName, ...], Field(description="roles in Airflow that may look, and switch dispatchers")
    ] = ("user",)
    initiator: Annotated[
        tuple[RoleName, ...], Field(description="those that may begin initial updates and comparisons as well")
    ] = ("op",)
    admin: Annotated[tuple[RoleName, ...], Field(description="those that may do everything")] = ("admin",)
    users: dict[str, Role] = Field(default={}, description="users of Airflow with a role of their own")
    metrics_token_file: Annotated[
        str | None, Field(pattern="^/", description="the token by which Prometheus reads the metrics, and nothing else")
    ] = None

    @property
    def roles(self) -> dict[Role, tuple[str, ...]]:
        """Airflow's roles that lead to each of ours."""
        return {Role.USER: self.user, Role.INITIATOR: self.initiator, Role.ADMIN: self.admin}

    @property
    def words(self) -> dict[str, str]:
        """The texts of columns and controls, by their keys."""
        return {one.value: self.texts.get(one, text) for one, text in PAGE_TEXTS.items()}
