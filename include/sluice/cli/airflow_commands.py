"""Commands of the shell for Airflow: connections, DAG runs, pauses, and Airflow's own command line."""

from __future__ import annotations

import getpass
import json
import os
import subprocess
import sys
import urllib.error
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from sluice import shell
from sluice.airflow_api.client import AirflowApi, detail
from sluice.cli.context import airflow_environment, connection_ids, secret_ids
from sluice.cli.context import context as _context
from sluice.commands import dispatcher
from sluice.config import configuration_text, fields
from sluice.config.configuration import Config
from sluice.connections import ConnectionInfo
from sluice.context import Context
from sluice.errors import ConfigError, SluiceError, Unanswered
from sluice.model.names import Pair
from sluice.monitor import run_progress
from sluice.outside_text import say
from sluice.runtime.terminal import Progress
from sluice.store import replications
from sluice.vendors.address import EXAMPLES, SECRET, Address, parsed
from sluice.vendors.registry import vendor

# Rights and settings: who gives them asks for the script of a connection that is there.
_LATER = ("SLC-033", "SLC-400")


def airflow(words: Sequence[str]) -> int:
    """Run Airflow's own command line where our Airflow is; its exit code."""
    return subprocess.run([sys.executable, "-m", "airflow", *words], env=airflow_environment(), check=False).returncode


def trigger(dag: str, words: Sequence[str], conf: str | None, *, wait: bool) -> int:
    """Start a run of a DAG; with `wait` until it has ended. 0 unless it failed, 130 if the waiting was interrupted.

    Args:
        words: choices of its form, as NAME=VALUE.
        conf: more of them, as a JSON object.
    """
    context = _context()
    dags = context.dags()
    try:
        given = json.loads(conf or "{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise SluiceError(
            914, f"no choice of {dag} can be read in {str(conf)[:200]!r}", "write a JSON object; nothing was changed"
        )
    run = dags.trigger(dag, given | dags.conf(dag, words))
    say(f"triggered: {run}")
    if wait:
        try:
            with Progress(quiet=True).step(dag) as step:
                follow = _follower(context, f"{context.config.dag_id(dag)}/{run}", step.update)
                note = dags.wait(dag, run, follow)
        except KeyboardInterrupt:
            say(f"\nThe run goes on in Airflow. To see how far it is, type: {shell.status()}", file=sys.stderr)
            return 130
        say(note or f"success: {run}")
    return 0


def _follower(context: Context, run: str, update: Callable[[str], None]) -> Callable[[str], None]:
    """Tell how far a run is, and its tasks."""

    def follow(tasks: str) -> None:
        update("; ".join(filter(None, [run_progress.describe(context, run), tasks])))

    return follow


def switch(source: str, slaves: Sequence[str], *, everyone: bool, publish: bool, paused: bool) -> int:
    """Pause or unpause the drains of slaves, of all slaves, or the publishing of a source. 0 if none was left alone."""
    context = _context()
    settings = context.config
    settings.source(source)
    if bool(slaves) + everyone + publish != 1:
        names = ", ".join(settings.slaves_of(source))
        raise SluiceError(
            914,
            "it is not said which DAG is meant, or more than one kind of them",
            f"name slaves of {source} ({names}), or say --all or --publish; nothing was changed",
        )
    if everyone:
        return _switch_all(context, source, paused=paused)
    pairs = [Pair(settings.replication(source, slave).source, slave) for slave in slaves]
    dags = context.dags()
    for pair in pairs:
        command = dispatcher.standby if paused else dispatcher.activate
        command(context, dags, pair, replications.actor())
        dag = settings.dag_id("drain", source, pair.slave)
        say(_pause_message(dag, paused, "the change log keeps everything for it", shell.unpause(pair)))
    if publish:
        dag = dags.switch("publish", source, paused=paused)
        way = context.capture_way(source)
        waiting = f"changes wait in {way.place}, {way.unread}"
        say(_pause_message(dag, paused, waiting, shell.unpause_publish(source)))
    return 0


def _switch_all(context: Context, source: str, *, paused: bool) -> int:
    command = dispatcher.standby if paused else dispatcher.activate
    # A person at a shell can end it at any time.
    how = {"patience_s": 600.0}
    done = dispatcher.switch_source(context, context.dags(), source, command, replications.actor(), **how)
    for name in done.switched:
        say(f"{'paused' if paused else 'unpaused'}: {context.config.dag_id('drain', source, name)}")
    for name, error in done.left_alone.items():
        say(f"left alone: {name}: {error}", file=sys.stderr)
    return 1 if done.left_alone else 0


def connect_missing(password_variable: str | None, *, untried: bool) -> int:
    """Ask for every connection of the configuration that Airflow lacks, try each, and store it. 0 if all are stored."""
    context = _context()
    ids = [conn_id for conn_id in connection_ids(context.config) if conn_id not in context.connections]
    if not ids:
        say("Airflow has all connections that the configuration names. To replace one, name it.")
    for conn_id in ids:
        # What Airflow hands out then has this connection, too, which the next one may need.
        context = _connect(context, conn_id, None, password_variable, untried=untried)
    return 0


def connect(conn_id: str, address: str | None, password_variable: str | None, *, untried: bool) -> int:
    """Add an Airflow connection or replace it, once what it leads to answers. 0 if it is stored."""
    _connect(_context(), conn_id, address, password_variable, untried=untried)
    return 0


def _connect(
    context: Context, conn_id: str, address: str | None, password_variable: str | None, *, untried: bool
) -> Context:
    """Try a connection and store it; the context with what Airflow hands out then.

    Raises:
        SluiceError: SLC-017, the address is none, or does not fit; SLC-252, it does not answer. A person at a terminal
            is asked again instead.
    """
    settings, named = context.config, conn_id in connection_ids(context.config)
    asks_again = sys.stdin.isatty() and password_variable is None
    before = ""
    while True:
        if address is None and conn_id not in secret_ids(settings):
            address = _read_address(settings, conn_id, before)
        try:
            entry = _entry(settings, conn_id, address, password_variable)
            if named and not untried:
                _try(context, entry)
            break
        except (ConfigError, Unanswered) as error:
            if not asks_again:
                raise
            say(f"{error}\nOnce more, or end it with Ctrl-C.", file=sys.stderr)
            before, address = address if address and isinstance(error, Unanswered) else "", None
    _store(context, entry)
    say(f"stored: the Airflow connection {conn_id}, of type {entry['conn_type']}")
    if not named:
        near = fields.nearest(conn_id, connection_ids(settings))
        say(
            f"The configuration {configuration_text.place()} does not name it, so it was not tried. It names "
            f"{', '.join(_databases(settings))}{near and f': did you mean {near}?'}"
        )
        return context
    context = _context()
    _expect_handed_out(context, entry)
    return context


def _entry(settings: Config, conn_id: str, address: str | None, password_variable: str | None) -> dict[str, Any]:
    """A connection as Airflow stores it."""
    if address is not None and conn_id in secret_ids(settings):
        raise ConfigError(
            17, f"{conn_id} is a secret, and has no address", "nothing was changed; type it again without ADDRESS"
        )
    target = SECRET if address is None else parsed(address, _use(settings, conn_id)[1])
    return {
        "conn_id": conn_id,
        "conn_type": target.conn_type,
        "host": target.host,
        "port": target.port,
        "schema": target.schema,
        "login": target.login,
        "password": _password(target, password_variable) or None,
        "extra": json.dumps(target.extra),
    }


def _use(settings: Config, conn_id: str) -> tuple[str, Collection[str]]:
    """The use of a connection in the configuration, and the types it can be of: any if nothing uses it."""
    deployment = {
        settings.control: ("the control store", ("postgres",)),
        settings.airflow_api: ("Airflow's REST API", ("http",)),
        settings.spark: ("Spark", ("spark_connect", "spark")),
    }
    if conn_id in deployment:
        return deployment[conn_id]
    for kind, sides in (("source", settings.sources), ("slave", settings.slaves)):
        for name, side in sides.items():
            if conn_id in (*side.connections, side.reading_connection):
                return f"{kind} {name}", (vendor(side.vendor).conn_type,)
    return "", tuple(EXAMPLES)


def _pause_message(dag: str, paused: bool, meanwhile: str, again: str) -> str:
    return f"paused: {dag}; {meanwhile}. To go on, type: {again}" if paused else f"unpaused: {dag}"


def _databases(settings: Config) -> list[str]:
    """The connections of sources and slaves; the others are the deployment's."""
    deployment = (settings.control, settings.airflow_api, settings.spark)
    return [conn_id for conn_id in connection_ids(settings) if conn_id not in deployment]


def _read_address(settings: Config, conn_id: str, before: str) -> str:
    """The address, from a person at a terminal, who can take the one before, or a line of stdin."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    use, types = _use(settings, conn_id)
    of = f"{conn_id} ({use})" if use else conn_id
    say(f"The address of {of}, without a password, such as\n  " + "\n  ".join(EXAMPLES[name] for name in types))
    return input(f"Address [{before}]: " if before else "Address: ") or before


def _password(target: Address, variable: str | None) -> str:
    """From an environment variable, a person at a terminal, or the first line of stdin."""
    if variable is not None:
        try:
            return os.environ[variable]
        except KeyError:
            raise ConfigError(
                17, f"there is no environment variable {variable}", "set it, or leave --password-env out"
            ) from None
    if not target.secret:
        return ""
    if sys.stdin.isatty():
        return getpass.getpass(f"The {target.secret}{f' of {target.login}' if target.login else ''}: ")
    return sys.stdin.readline().rstrip("\r\n")


def _store(context: Context, entry: Mapping[str, Any]) -> None:
    """Over Airflow's REST API; where that is not known or does not answer, as Airflow's own command line does."""
    api = context.config.airflow_api
    if (info := context.connections.get(api)) and entry["conn_id"] != api:
        try:
            return _store_over(AirflowApi(info), entry)
        except urllib.error.HTTPError as error:
            raise _refusal(entry["conn_id"], f"{error}{detail(error)}") from None
        except (OSError, ValueError, KeyError) as error:
            say(f"Airflow's REST API does not answer ({error}): writing to its database", file=sys.stderr)
    command = [sys.executable, "-m", "sluice_airflow.connecting"]
    text = json.dumps([entry])
    done = subprocess.run(command, env=airflow_environment(), input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise _refusal(entry["conn_id"], (done.stderr.strip().splitlines() or ["it said nothing"])[-1])


def _store_over(api: AirflowApi, entry: Mapping[str, Any]) -> None:
    path = "/api/v2/connections"
    if not entry["password"]:
        # Where none is given, Airflow keeps the password of the connection that is overwritten.
        with suppress(urllib.error.HTTPError):
            api.ask(f"{path}/{quote(entry['conn_id'], safe='')}", "DELETE")
    named = {"connection_id": entry["conn_id"], **{name: value for name, value in entry.items() if name != "conn_id"}}
    made = {"action": "create", "action_on_existence": "overwrite", "entities": [named]}
    if errors := api.ask(path, "PATCH", {"actions": [made]})["create"]["errors"]:
        raise _refusal(entry["conn_id"], json.dumps(errors))


def _refusal(conn_id: str, why: str) -> SluiceError:
    return SluiceError(
        915,
        f"Airflow did not store the connection {conn_id}: {why}",
        "fix that and type it again, or add the connection in the Airflow UI (Admin, Connections)",
    )


def _try(context: Context, entry: Mapping[str, Any]) -> None:
    """See whether what it leads to answers. Raises SluiceError SLC-252, it does not."""
    from sluice.monitor import check

    conn_id = entry["conn_id"]
    info = ConnectionInfo(
        conn_type=entry["conn_type"],
        host=entry["host"] or "",
        port=entry["port"],
        database=entry["schema"] or "",
        login=entry["login"] or "",
        password=entry["password"] or "",
        extra=json.loads(entry["extra"]),
    )
    findings = list(
        check.check_connection(replace(context, connections={**context.connections, conn_id: info}), conn_id)
    )
    for finding in findings:
        say(check.line(finding))
    if not all(finding.good or finding.text.startswith(_LATER) for finding in findings):
        stays = "; the one that was there stays" if conn_id in context.connections else ""
        raise Unanswered(
            252,
            f"the connection {conn_id} was not stored, since it failed when it was tried{stays}",
            "correct what it says above, and type it again; if all is right, and the server is down, add --untried",
        )


def _expect_handed_out(context: Context, entry: Mapping[str, Any]) -> None:
    """Raises SluiceError SLC-251, jobs get another one."""
    info = context.connection(entry["conn_id"])
    if (info.host, info.login, info.password) != tuple(entry[name] or "" for name in ("host", "login", "password")):
        raise SluiceError(
            251,
            f"Airflow hands out another connection {entry['conn_id']} than the one that was stored",
            "a secrets backend, or an AIRFLOW_CONN_... variable of Airflow's processes, has one of that id, and goes "
            "before: change it there, or take it away there",
        )
