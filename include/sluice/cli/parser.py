"""The commands of `./sluice`. Each part is imported when its command runs, so that --help is quick."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sluice import library_errors, paths, shell
from sluice.cli import checkout_commands, removal_options, repair_options
from sluice.cli.arguments import number, ordinal, seconds
from sluice.cli.signals import end_alike, exit_code
from sluice.errors import SluiceError
from sluice.outside_text import say

if TYPE_CHECKING:
    from sluice.runtime.handle import Runtime


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        end_alike()
    try:
        # Whatever follows is Airflow's, options and all.
        if words[:1] == ["airflow"]:
            return _airflow(argparse.Namespace(words=words[1:]))
        options = parser().parse_args(words)
        return int(options.run(options))
    except KeyboardInterrupt as interrupted:
        return exit_code(interrupted)
    except BrokenPipeError:
        return 141
    except Exception as error:
        library_errors.tell(error)
        return 1


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    whole = argparse.ArgumentParser(
        prog=shell.CLI,
        description="Replicates one master database to any number of slaves, under Apache Airflow on Apache Spark.",
    )
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)

    if not paths.INSTALLED:
        checkout_commands.add_demo(commands)

    up = commands.add_parser("up", help="start PostgreSQL, Airflow and Spark Connect on this machine")
    up.set_defaults(run=_up)

    down = commands.add_parser("down", help="stop all that up or demo has started; data stay")
    down.set_defaults(run=_down)

    status = commands.add_parser("status", help="show slaves, dispatchers, positions and holdback")
    status.add_argument("--json", action="store_true", help="for programs")
    status.add_argument("--every", type=seconds, metavar="SECONDS", help="again and again, until it is interrupted")
    status.set_defaults(run=_status)

    check = commands.add_parser("check", help="validate the configuration and test every connection")
    check.add_argument("--deployment", action="store_true", help="tell what several machines need, as far as seen here")
    check.set_defaults(run=_check)

    doctor = commands.add_parser("doctor", help="print what a report of a problem needs; it has no password")
    doctor.set_defaults(run=_doctor)

    init = commands.add_parser("init", help="make what Sluice needs in an Airflow of your own")
    init.set_defaults(run=_init)

    connect = commands.add_parser("connect", help="try an Airflow connection, and add it or replace it")
    connect.add_argument("id", nargs="?", metavar="ID", help="default: ask for each that is missing")
    connect.add_argument(
        "address",
        nargs="?",
        metavar="ADDRESS",
        help="such as postgresql://USER@HOST:PORT/DATABASE; asked for if left out",
    )
    connect.add_argument(
        "--password-env", metavar="NAME", help="the environment variable that has the password (default: ask, or stdin)"
    )
    connect.add_argument("--untried", action="store_true", help="store it without trying it: its server is down now")
    connect.set_defaults(run=_connect)

    trigger = commands.add_parser("trigger", help="start a run of a DAG, such as initial_update")
    trigger.add_argument("dag", metavar="DAG", help="its id, without `dag_prefix`")
    trigger.add_argument("choices", nargs="*", metavar="NAME=VALUE", help="choices of its form; a list is one,other")
    trigger.add_argument("--conf", metavar="JSON", help="the same as a JSON object")
    trigger.add_argument("--wait", action="store_true", help="until it has ended; exit 0 only if it succeeded")
    trigger.set_defaults(run=_trigger)

    explain = commands.add_parser("explain", help="what an error's code means, what is safe, and what to do")
    explain.add_argument("code", metavar="CODE", help="such as SLC-041, or 41")
    explain.set_defaults(run=_explain)

    for name, what in (("pause", "stop"), ("unpause", "go on with")):
        switch = commands.add_parser(name, help=f"{what} draining to slaves, or publishing; nothing is lost")
        switch.add_argument("source", metavar="SOURCE", help="its name in the configuration")
        switch.add_argument("slaves", nargs="*", metavar="SLAVE", help="its name in the configuration")
        switch.add_argument("--all", action="store_true", help="every slave of the source for which that makes sense")
        switch.add_argument("--publish", action="store_true", help="the publishing of the source, for all its slaves")
        switch.set_defaults(run=_switch, paused=name == "pause")

    airflow = commands.add_parser("airflow", help="Airflow's own command line, where our Airflow is")
    airflow.add_argument("words", nargs="*", metavar="...", help="such as: dags list")
    airflow.set_defaults(run=_airflow)

    repair_options.add(commands)

    export = commands.add_parser("export", help="write a range of a source's change log as XML or JSON lines")
    export.add_argument("source", metavar="SOURCE", help="name of the source in the configuration")
    export.add_argument(
        "--from", dest="first", type=ordinal, metavar="ORDINAL", help="first transaction (default: all)"
    )
    export.add_argument("--to", dest="last", type=ordinal, metavar="ORDINAL", help="last transaction (default: all)")
    export.add_argument("--format", default="xml", choices=("xml", "jsonl"), help="xml (default) or jsonl")
    export.add_argument("--output", type=Path, metavar="FILE", help="a file, whole or not there (default: print)")
    export.set_defaults(run=_export)

    relay = commands.add_parser("relay", help="serve events of tables to clients, until it is interrupted")
    relay.set_defaults(run=_relay)

    statement = commands.add_parser("statement", help="execute an SQL statement on the master and on every slave")
    statement.add_argument("source", metavar="SOURCE", help="the master, as the configuration calls it")
    which = statement.add_mutually_exclusive_group(required=True)
    which.add_argument("--sql-file", metavar="FILE", help="the statement; - reads it from stdin")
    which.add_argument("--show", type=number, metavar="NUMBER", help="what each node answered to one issued before")
    statement.add_argument("--schema", default="public", help="where plain names are looked up (default: public)")
    statement.add_argument(
        "--allow-varying", action="store_true", help="although it may do something else on each node"
    )
    statement.add_argument("--max-entries", type=number, metavar="ROWS", help="keep no more rows of each answer")
    statement.add_argument("--prio", action="store_true", help="ask for a publisher at once")
    statement.add_argument(
        "--wait", type=seconds, default=60, metavar="S", help="wait so long for slaves (default: 60)"
    )
    statement.set_defaults(run=_statement)

    rejected = commands.add_parser("rejected", help="show, carry out or drop changes that a slave did not carry out")
    rejected.add_argument("source", metavar="SOURCE", help="its name in the configuration")
    rejected.add_argument("slave", metavar="SLAVE", help="its name in the configuration")
    rejected.add_argument("numbers", nargs="*", type=number, metavar="NUMBER", help="which ones (default: all)")
    then = rejected.add_mutually_exclusive_group()
    then.add_argument("--carry-out", action="store_true", help="write them to the slave now, in their order")
    then.add_argument("--drop", action="store_true", help="forget them")
    rejected.set_defaults(run=_run_rejected)

    gate = commands.add_parser("dispatcher", help="show what a slave stands in front of, and decide about it")
    gate.add_argument("source", metavar="SOURCE", help="its name in the configuration")
    gate.add_argument("slave", metavar="SLAVE", help="its name in the configuration")
    decision = gate.add_mutually_exclusive_group()
    decision.add_argument(
        "--remove-first", type=ordinal, metavar="ORDINAL", help="keep this transaction aside, and go past it"
    )
    decision.add_argument("--skip", metavar="TABLE", help="leave a table of the master out until the slave is filled")
    decision.add_argument("--approve", type=number, metavar="KEY", help="have that command of the master carried out")
    decision.add_argument(
        "--reject", type=number, metavar="KEY", help="pass over that command of the master, and keep it"
    )
    decision.add_argument(
        "--clear-queue", action="store_true", help="discard what waits for the slave, which is to be filled again then"
    )
    gate.add_argument("--yes", action="store_true", help="with --clear-queue: do it, and do not ask")
    gate.set_defaults(run=_dispatcher)

    losses = commands.add_parser("losses", help="show what columns of a slave would lose, and allow it")
    losses.add_argument("source", metavar="SOURCE", help="its name in the configuration")
    losses.add_argument("slave", metavar="SLAVE", help="its name in the configuration")
    losses.add_argument(
        "--allow", action="store_true", help="round numbers, cut texts, drop parts of values from the next update on"
    )
    losses.set_defaults(run=_losses)

    cancel = commands.add_parser("cancel", help="end initial updates that are under way")
    cancel.add_argument("source", metavar="SOURCE", help="its name in the configuration")
    cancel.add_argument("slaves", nargs="+", metavar="SLAVE", help="its name in the configuration")
    cancel.set_defaults(run=_cancel)

    restart = commands.add_parser("restart", help="fill slaves again, with the choices of their last initial update")
    restart.add_argument("source", metavar="SOURCE", help="its name in the configuration")
    restart.add_argument("slaves", nargs="*", metavar="SLAVE", help="its name in the configuration (default: all)")
    restart.add_argument("--yes", action="store_true", help="do it, and do not ask")
    restart.set_defaults(run=_restart)

    removal_options.add(commands)

    grants = commands.add_parser(
        "grants", help="print the script that gives the role of a source, or a slave, its rights"
    )
    grants.add_argument(
        "name", metavar="NAME", help="the source's name in the configuration, or with --slave a slave's"
    )
    grants.add_argument("--slave", action="store_true", help="for a slave: to make, fill and follow its tables")
    grants.add_argument(
        "--silent-triggers",
        action="store_true",
        help="with --slave: also to keep its own triggers and foreign keys from acting (PostgreSQL 15 and newer)",
    )
    grants.set_defaults(run=_grants)

    if not paths.INSTALLED:
        checkout_commands.add(commands, whole)
    return whole


def _up(_: argparse.Namespace) -> int:
    from sluice.runtime.up import up

    _show(up())
    return 0


def _down(_: argparse.Namespace) -> int:
    from sluice.runtime.up import down

    down()
    return 0


def _status(options: argparse.Namespace) -> int:
    from sluice.cli.status import show_status

    return show_status(as_json=options.json, every_s=options.every)


def _check(options: argparse.Namespace) -> int:
    from sluice.cli import commands

    return commands.show_deployment() if options.deployment else commands.show_check()


def _doctor(_: argparse.Namespace) -> int:
    from sluice.cli import doctor

    return doctor.show_doctor()


def _init(_: argparse.Namespace) -> int:
    from sluice.cli import init

    return init.init()


def _connect(options: argparse.Namespace) -> int:
    from sluice.cli import airflow_commands

    if options.id is None:
        return airflow_commands.connect_missing(options.password_env, untried=options.untried)
    return airflow_commands.connect(options.id, options.address, options.password_env, untried=options.untried)


def _trigger(options: argparse.Namespace) -> int:
    from sluice.cli import airflow_commands

    return airflow_commands.trigger(options.dag, options.choices, options.conf, wait=options.wait)


def _explain(options: argparse.Namespace) -> int:
    from sluice.cli.explain import explain

    say(explain(options.code))
    return 0


def _switch(options: argparse.Namespace) -> int:
    from sluice.cli import airflow_commands

    which = {"everyone": options.all, "publish": options.publish, "paused": options.paused}
    return airflow_commands.switch(options.source, options.slaves, **which)


def _airflow(options: argparse.Namespace) -> int:
    from sluice.cli import airflow_commands

    return airflow_commands.airflow(options.words)


def _export(options: argparse.Namespace) -> int:
    from sluice.cli import commands

    return commands.export(options.source, options.first, options.last, options.format, options.output)


def _relay(_: argparse.Namespace) -> int:
    from sluice.cli import relay

    return relay.serve()


def _statement(options: argparse.Namespace) -> int:
    from sluice.cli import commands

    if options.show is not None:
        return commands.show_statement(options.source, options.show, options.wait)
    try:
        text = sys.stdin.read() if options.sql_file == "-" else Path(options.sql_file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SluiceError(659, f"the statement cannot be read: {error}", "name a file of UTF-8 text, or -") from None
    choices = {"varying": options.allow_varying, "max_entries": options.max_entries, "hurried": options.prio}
    return commands.issue_statement(options.source, text, options.wait, schema=options.schema, **choices)


def _run_rejected(options: argparse.Namespace) -> int:
    from sluice.cli import commands

    if options.carry_out:
        return commands.carry_out_rejected(options.source, options.slave, options.numbers)
    if options.drop:
        return commands.drop_rejected(options.source, options.slave, options.numbers)
    return commands.show_rejected(options.source, options.slave, options.numbers)


def _dispatcher(options: argparse.Namespace) -> int:
    from sluice.cli import commands, replication_commands
    from sluice.state.ddl_question import Decision

    if options.remove_first is not None:
        return commands.remove_first(options.source, options.slave, options.remove_first)
    if options.skip is not None:
        return commands.skip(options.source, options.slave, options.skip)
    if options.clear_queue:
        return replication_commands.clear_queue(options.source, options.slave, sure=options.yes)
    for answer in Decision:
        if (key := getattr(options, answer)) is not None:
            return commands.decide(options.source, options.slave, key, answer)
    return commands.show_dispatcher(options.source, options.slave)


def _losses(options: argparse.Namespace) -> int:
    from sluice.cli import commands

    show = commands.allow_losses if options.allow else commands.show_losses
    return show(options.source, options.slave)


def _cancel(options: argparse.Namespace) -> int:
    from sluice.cli import commands

    return commands.cancel_updates(options.source, options.slaves)


def _restart(options: argparse.Namespace) -> int:
    from sluice.cli import replication_commands

    return replication_commands.restart(options.source, options.slaves, sure=options.yes)


def _grants(options: argparse.Namespace) -> int:
    from sluice.cli import commands

    if options.silent_triggers and not options.slave:
        parser().error("--silent-triggers needs --slave")
    if options.slave:
        return commands.show_slave_grants(options.name, silent=options.silent_triggers)
    return commands.show_grants(options.name)


def _show(runtime: Runtime) -> None:
    say(f"Configuration  {runtime.configuration}")
    say(f"Airflow        {runtime.ui_url}  (login {runtime.login}, password {runtime.password})")
    say(f"PostgreSQL     {runtime.psql('master')}")
    say(f"Spark Connect  sc://localhost:{runtime.spark_port}  (pages {runtime.spark_pages})")
    say("End it with ./sluice down")
