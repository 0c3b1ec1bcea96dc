"""The parts of the configuration that stand for themselves: tables, initial data, stylesheets, programs."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from sluice.config.fields import Actions, Identifier, Location


class Section(BaseModel):
    # A process that reads no configuration needs no validator, and one that does needs the whole file's alone.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def by_default(cls) -> Self:
        """The part in which nothing is set. Its defaults are not validated, which would take a validator of its own."""
        return cls.model_construct()


def maybe_empty(given: Any) -> BeforeValidator:
    """An empty section is one without settings; `given` is the type in the JSON schema."""
    return BeforeValidator(lambda value: {} if value is None else value, json_schema_input_type=given)


class WatchedTable(Section):
    """How a table, or each table of a [wildcard](tables.md#wildcards), is captured. `{}` is enough, and so is
    nothing behind the colon. The schema is required: there is no default one. Blanks around the schema and the table
    are ignored. Write a name with a dot in it, or with blanks around it, in double quotes: `'public." t "'`. A table
    that is named [need not exist yet](tables.md#tables-to-come).
    """

    exclude: Annotated[
        bool,
        Field(
            description="this table, or every table that this wildcard takes, is not watched. No other settings are "
            "allowed then"
        ),
    ] = False
    actions: Annotated[
        Actions,
        Field(
            description="the captured actions: any of I (insert), U (update), D (delete, and with it TRUNCATE). The "
            "trigger fires on those alone. `none`: only the initial copy. With fewer than `IUD` the slave is not a "
            "copy, and `verify` says so"
        ),
    ] = "IUD"
    trigger: Annotated[
        str | None,
        Field(
            max_length=63,
            description="name of the trigger; without one it is made. It must sort after `RI_ConstraintTrigger_` "
            "(R1), have at most 61 bytes, and be free. The name with `_t` behind it and the name with `W_` before it "
            "must be free, too",
        ),
    ] = None
    sequence: Annotated[
        int,
        Field(
            description="the order in which an initial update makes and loads tables: low numbers first; all negative "
            "ones form one group before them. Within a number parents come before their children"
        ),
    ] = -1
    debug: Annotated[
        Literal[0, 1],
        Field(
            description="1: each change leaves a line in `REPL_DEBUG_TABLE`. Sluice never empties that table; do it "
            "yourself"
        ),
    ] = 0
    old_images: Annotated[
        Literal["full", "key"],
        Field(
            description="`key`: an update stores its old row in the queue only if it changed the primary key. This is "
            "less work for the application, and half as much to store and to read; see "
            "[there](tables.md#without-old-images)"
        ),
    ] = "full"
    load_in_blocks: Annotated[
        bool,
        Field(
            description="`false`: an initial update with mode `online` copies this table out of one snapshot, before "
            "the blocks of the other tables. A table without a primary key needs this"
        ),
    ] = True

    @model_validator(mode="after")
    def _what_is_excluded_has_no_settings(self) -> WatchedTable:
        if self.exclude and self.model_fields_set != {"exclude"}:
            raise ValueError("a table that is excluded has no other settings")
        return self


class Stylesheets(Section):
    """The XSLT [stylesheet](stylesheets.md) that a slave's messages pass."""

    directory: Annotated[str, Field(description="where the files are, on every machine that runs jobs", pattern="^/")]
    name: Annotated[
        str | None,
        Field(
            description="this file; without it one is [looked for](stylesheets.md#which-file-is-taken)",
            pattern="^[^/]+$",
        ),
    ] = None
    version: Annotated[
        str | None,
        Field(
            description="the version of the tables that the slave wants, as `messages.version` of the source counts "
            "it. None: the source's"
        ),
    ] = None
    session: Annotated[
        str | None,
        Field(description="the text by which the file is looked for, in parts divided by `/`. None: the slave's name"),
    ] = None

    @model_validator(mode="after")
    def _what_is_named_is_not_looked_for(self) -> Stylesheets:
        if self.name and (self.version or self.session):
            raise ValueError("a stylesheet that is named is not looked for by a version or a session")
        return self


# Absolute, since Spark's home on a machine is another one.
KeyFile = Annotated[
    str | None,
    Field(
        pattern="^/",
        description="the key with which files are [encrypted](manual_transfer.md#encrypted), on every machine that "
        "stores or loads. A slave with a key refuses files that are not encrypted with it",
    ),
]
PrivateKey = Annotated[
    str | None,
    Field(
        pattern="^/",
        description="the private key with which manifests are [signed](manual_transfer.md#signed), on the machines of "
        "Airflow's tasks",
    ),
]
PublicKey = Annotated[
    str | None,
    Field(
        pattern="^/",
        description="the public key of the [signer](manual_transfer.md#signed) of manifests, on the machines of "
        "Airflow's tasks. With it, manifests without that signature are refused",
    ),
]


class OutgoingFiles(Section):
    """Where initial data is stored that is [carried by hand](manual_transfer.md), and its form."""

    location: Annotated[
        Location,
        Field(
            description="where directories of initial data are made, as jobs for this source and their Spark tasks "
            "see it: a directory, relative to `SLUICE_HOME`, or a [URL](stores.md#logins) without a password"
        ),
    ] = "initial_files"
    max_bytes: Annotated[
        int,
        Field(ge=1, le=2**30, description="most bytes of one file, before it is compressed. Larger: fewer files"),
    ] = 1_048_576
    versions: Annotated[
        frozenset[Annotated[str, Field(pattern=r"^[0-9A-Za-z._-]+$")]],
        Field(
            description="versions of the source (`messages.version`: letters, digits, `.`, `_`, `-`) of which initial "
            "data is [kept](manual_transfer.md#older-versions) for slaves that ask for them"
        ),
    ] = frozenset()
    as_xml: Annotated[
        bool, Field(description="files are [XML messages](manual_transfer.md#as-xml) instead of compressed ones")
    ] = False
    key_file: KeyFile = None
    sign_with: PrivateKey = None


class IncomingFiles(Section):
    """Where initial data arrives that is [carried by hand](manual_transfer.md)."""

    location: Annotated[
        Location,
        Field(
            description="where directories of initial data are copied to, as the slave's side sees it: jobs for this "
            "slave, their Spark tasks, and Airflow's triggerer. Relative to `SLUICE_HOME`, or a URL"
        ),
    ] = "initial_files"
    keep: Annotated[bool, Field(description="files are not deleted after the load")] = False
    quiet_s: Annotated[
        float,
        Field(ge=0, le=86_400, description="seconds without any change after which a copy counts as complete"),
    ] = 10
    key_file: KeyFile = None
    signed_by: PublicKey = None
    reactivation: Annotated[
        Literal["automatic", "approval"],
        Field(
            description="when changes follow after the load. `automatic`: at once. `approval`: when an administrator "
            "[approves it](manual_transfer.md#who-lets-changes-go-on) in Airflow"
        ),
    ] = "automatic"


class WipeOut(Section):
    """A schema of the slave of which an initial update drops the objects before it makes its tables, in the same
    transaction. Its log lists them, and [check](commands.md#check) lists them beforehand. An update that is continued
    drops nothing.

    Some objects stay: Sluice's own tables, objects of an extension, and types. If one of these depends on an object
    that would go, nothing is dropped (SLC-215). [Oracle](oracle.md#wiping-out) drops one object after the other, since
    each DROP commits there.
    """

    schema_: Annotated[
        Identifier,
        Field(
            alias="schema",
            description="the slave's schema. Schemas of the server itself are refused, and so is a database "
            "that is a master, too (SLC-214)",
        ),
    ]
    tables: Annotated[bool, Field(description="its tables, watched or not, with all that belongs to them")] = True
    views: Annotated[bool, Field(description="its views, materialized ones among them")] = True
    sequences: Annotated[bool, Field(description="its sequences that belong to no column")] = True
    functions: Annotated[bool, Field(description="its functions and aggregates")] = True
    procedures: Annotated[bool, Field(description="its procedures")] = True
    indexes: Annotated[bool, Field(description="its indexes that no constraint made, where the tables stay")] = True
    triggers: Annotated[bool, Field(description="triggers, where the tables or views stay")] = True
    packages: Annotated[bool, Field(description="its packages, on Oracle; PostgreSQL has none")] = True
    synonyms: Annotated[
        bool, Field(description="its synonyms, on Oracle; on PostgreSQL a view gives a table another name")
    ] = True
    if_connected: Annotated[
        Literal["warn", "refuse"],
        Field(
            description="what the update does if sessions of others are in the database: it writes a warning to its "
            "log, or ends (SLC-215)"
        ),
    ] = "warn"

    @property
    def kinds(self) -> tuple[str, ...]:
        """Types of the objects to drop."""
        return tuple(name for name, wanted in self if wanted is True)


class Program(Section):
    """The program that [brings the rows](configuration.md#programs-of-an-external-update) in an initial update with
    mode `external`: of a source it exports, of a slave it imports. No shell reads its arguments.
    """

    command: Annotated[
        list[str],
        Field(
            description="the program and its arguments; without it the database's own. `{snapshot}` (of a source) "
            "becomes the id of the exported snapshot, `{database}` the name of the database. A word with `{table}` "
            "is repeated for each watched table, under its name on that side. Of a source, a word with `{relation}` "
            "(the partitions instead of their table) or `{sequence}` (of their columns) is repeated as well"
        ),
    ] = []
    before: Annotated[
        list[str],
        Field(
            description="a program that runs first, in the same way, and must end with 0. It reads nothing and writes "
            "to the log"
        ),
    ] = []
    success: Annotated[frozenset[int], Field(min_length=1, description="exit codes that mean success")] = frozenset({0})
    expect: Annotated[
        str | None,
        Field(
            min_length=1,
            description="text that one line of the program's messages must contain, in addition to an exit code that "
            "means success",
        ),
    ] = None
    limit_s: Annotated[
        float,
        Field(gt=0, le=2_592_000, description="seconds until the program is ended, with all that it started"),
    ] = 86_400
