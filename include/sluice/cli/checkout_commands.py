"""The commands of `./sluice` that need a checkout: the demo, tests, measurements, packages, documentation."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sluice.cli.arguments import positive
from sluice.errors import SluiceError
from sluice.outside_text import say

BENCHES = (
    "capture",
    "publish",
    "decode",
    "apply",
    "drain",
    "slaves",
    "cluster",
    "initial-update",
    "blocks",
    "latency",
    "relay",
    "mariadb",
    "verify",
)


def add_demo(commands: Any) -> None:
    """Add the first of them, which people see first."""
    demo = commands.add_parser("demo", help="watch a master replicate to two slaves, on real data")
    demo.add_argument("--once", action="store_true", help="stop everything at the end; exit 0 only if nothing differs")
    demo.add_argument("--files", action="store_true", help="carry the initial data in files, as by hand")
    demo.set_defaults(run=_demo)


def add(commands: Any, whole: argparse.ArgumentParser) -> None:
    """Add the others to the commands of a parser."""
    test = commands.add_parser("test", help="run the tests, ring by ring")
    test.add_argument(
        "rings",
        nargs="*",
        metavar="RING",
        help="one of lint, unit, ... (default: each); quick; all: the long tests, too",
    )
    test.add_argument(
        "--oracle-dsn",
        metavar="HOST:PORT/SERVICE",
        help="run tests of masters on this Oracle, too; the password of SYS is in SLUICE_ORACLE_PASSWORD",
    )
    test.set_defaults(run=_test)

    bench = commands.add_parser("bench", help="measure; the last line is one JSON object")
    bench.add_argument("name", metavar="NAME", choices=BENCHES, help=", ".join(BENCHES))
    bench.add_argument("--scale", type=positive, default=1.0, metavar="X", help="shrink or grow the work (default: 1)")
    bench.add_argument(
        "--capture",
        choices=("triggers", "log"),
        default="triggers",
        help="how capture, publish and drain capture changes (default: triggers)",
    )
    bench.set_defaults(run=_bench)

    install = commands.add_parser("install", help="install what uv.lock says into .venv, as any command does if needed")
    install.add_argument(
        "--production", action="store_true", help="without the packages of the tests, of `./sluice up` and of the demo"
    )
    install.set_defaults(run=_install)

    docs = commands.add_parser("docs", help="serve the documentation as a site, or build it (for developers)")
    docs.add_argument("--build", type=Path, metavar="DIR", help="build the site into this directory")
    docs.add_argument("--reference", action="store_true", help="write the pages that are made from the code")
    docs.set_defaults(run=_docs, whole=whole)

    lock = commands.add_parser("lock", help="bring uv.lock up to date with pyproject.toml (for developers)")
    lock.add_argument("--upgrade", action="store_true", help="take the newest versions of everything")
    lock.set_defaults(run=_lock)

    build = commands.add_parser("build", help="build the wheel that another Airflow's Python installs, and its source")
    build.add_argument("directory", nargs="?", type=Path, default=Path("dist"), metavar="DIR", help="default: dist")
    build.set_defaults(run=_build)


def _demo(options: argparse.Namespace) -> int:
    from sluice.demo.run import run

    return run(once=options.once, files=options.files)


def _test(options: argparse.Namespace) -> int:
    from sluice.dev import test_rings

    if options.oracle_dsn is not None:
        from sluice.dev import oracle_server

        oracle_server.name(options.oracle_dsn)
    return test_rings.run(options.rings)


def _bench(options: argparse.Namespace) -> int:
    from sluice import bench

    return bench.run(options.name, options.scale, options.capture)


def _install(_: argparse.Namespace) -> int:
    raise SluiceError(281, "this is not the launcher, which alone installs", "type ./sluice install in the checkout")


def _docs(options: argparse.Namespace) -> int:
    from sluice.dev import docs_site, reference

    if options.reference:
        return reference.write(options.whole)
    return docs_site.build(options.build) if options.build else docs_site.serve()


def _lock(options: argparse.Namespace) -> int:
    from sluice.dev import lockfile

    return lockfile.update(upgrade=options.upgrade)


def _build(options: argparse.Namespace) -> int:
    from sluice.dev import wheel

    say("\n".join(map(str, wheel.build(options.directory))))
    return 0
