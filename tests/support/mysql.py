"""A real MySQL server of a test session: Debian's newest, which is unpacked in a directory of its own.

The machine has none, and its packages stay as they are: the server runs with the libraries that it was built for. It
is found by Debian's index, so it is another one from time to time. Where it cannot be had the tests are skipped, with
that as the reason; one that was had and does not start is a failure.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import re
import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pymysql
import pytest
from pymysql.constants import CLIENT
from support.mariadb import PATIENCE, MariaServer, worlds
from support.places import server_directory
from support.updating import UpdatingWorld

from sluice.vendors.mariadb.server import MYSQL

# Debian's newest packages, in whatever archive apt is configured to ask.
_SUITE, _PACKAGES = "dists/sid", "main/binary-amd64/Packages.xz"
_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_PACKAGE = "mysql-server-core"
_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sluice-tests"
# Scripts of a package's set-up, and data of programs that the server does not call.
_NOT_NEEDED = re.compile("perl|debconf|openssl-provider|gconv|ucf|common$|ca-cert|dpkg|base$|krb5-locales")
_LIBRARIES = "usr/lib/x86_64-linux-gnu"


class CannotBeHad(Exception):
    """The archive is out of reach, or has not what is needed."""


class MySqlServer(MariaServer):
    """The server; its root has no password on the socket, and no other way in."""

    kind = MYSQL

    def __init__(self, directory: Path, root: Path) -> None:
        super().__init__(directory)
        self._root = root

    @property
    def _program(self) -> list[str]:
        libraries = self._root / _LIBRARIES
        loader = [str(libraries / "ld-linux-x86-64.so.2"), "--library-path", str(libraries)]
        return [*loader, str(self._root / "usr/sbin/mysqld")]

    @property
    def _settings(self) -> list[str]:
        quick = ["--innodb-buffer-pool-size=32M", "--innodb-redo-log-capacity=64M", "--performance-schema=OFF"]
        # The strictest that a server may be about what a transaction may do: temporary tables are in none of its log.
        logged = ["--log-bin=binlog", "--server-id=7", "--gtid-mode=ON", "--enforce-gtid-consistency=ON"]
        # As a master's server has to be, too.
        logged += ["--binlog-row-metadata=FULL", "--sync-binlog=1"]
        # Else rows go by statements alone, as on a server that nobody set up.
        return [
            *self._places,
            *quick,
            *PATIENCE,
            *logged,
            "--mysqlx=OFF",
            "--local-infile=1",
            f"--pid-file={self._directory / 'pid'}",
        ]

    @property
    def _places(self) -> list[str]:
        words = self._root / "usr/share/mysql"
        return ["--secure-file-priv=NULL", f"--basedir={self._root / 'usr'}", f"--lc-messages-dir={words}"]

    def _make(self, common: list[str]) -> None:
        made = [*self._program, *common, *self._places, "--initialize-insecure"]
        done = subprocess.run(made, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]

    def run(self, script: str) -> None:
        """See `MariaServer`: by the driver, since the machine may have no client for this server."""
        try:
            with (
                pymysql.connect(
                    unix_socket=str(self._socket),
                    user="root",
                    autocommit=True,
                    client_flag=CLIENT.MULTI_STATEMENTS,
                    ssl_disabled=True,
                ) as session,
                session.cursor() as cursor,
            ):
                cursor.execute(script)
                while cursor.nextset():
                    pass
        except pymysql.Error as error:
            raise AssertionError(str(error)) from error


@pytest.fixture(scope="session")
def mysql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MySqlServer]:
    """The server, if it can be had."""
    try:
        root = unpacked()
    except CannotBeHad as error:
        pytest.skip(f"MySQL cannot be had: {error}")
    with server_directory(tmp_path_factory.mktemp("mysql")) as directory:
        made = MySqlServer(directory, root)
        made.start()
        yield made
        made.stop()


@pytest.fixture
def mysql(
    updating: Callable[..., UpdatingWorld], mysql_server: MySqlServer, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., UpdatingWorld]:
    """See `worlds`."""
    return worlds(updating, mysql_server, monkeypatch)


def unpacked() -> Path:
    """Where the server is unpacked, with all that it needs; what was had before is taken as it is."""
    if found := sorted(_CACHE.glob("mysql-*/")):
        return found[-1]
    if os.uname().machine != "x86_64" or not shutil.which("dpkg"):
        raise CannotBeHad("this machine has no dpkg, or another processor")
    archive = _archive()
    index = _index(archive)
    if _PACKAGE not in index:
        raise CannotBeHad(f"Debian has no {_PACKAGE}")
    _CACHE.mkdir(parents=True, exist_ok=True)
    place = _CACHE / f"mysql-{index[_PACKAGE]['Version'].replace('/', '_')}"
    with tempfile.TemporaryDirectory(prefix="fetching-", dir=_CACHE) as directory:
        root = Path(directory) / "root"
        root.mkdir()
        with ThreadPoolExecutor(6) as threads:
            files = list(threads.map(lambda name: _fetched(archive, index[name], Path(directory)), _needed(index)))
        for file in files:
            subprocess.run(["dpkg", "-x", str(file), str(root)], check=True)
        try:
            root.rename(place)
        except OSError:
            # Another session of tests was quicker.
            assert place.is_dir()
    return place


def _archive() -> str:
    """Where apt has Debian's packages from."""
    asked = ["apt-get", "indextargets", "--format", "$(COMPONENT) $(SITE)", "Created-By: Packages", "Label: Debian"]
    done = subprocess.run(asked, capture_output=True, text=True)
    found = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("main http")]
    if not found:
        raise CannotBeHad("apt names no archive of Debian")
    return found[0]


def _index(archive: str) -> dict[str, dict[str, str]]:
    """What Debian says of its packages, and has signed."""
    release, packed = _read(f"{archive}/{_SUITE}/InRelease"), _read(f"{archive}/{_SUITE}/{_PACKAGES}")
    if not shutil.which("gpgv"):
        raise CannotBeHad("this machine has no gpgv, which tells whether an index is Debian's")
    verify = ["gpgv", "--keyring", str(_KEYS), "--output", "-"]
    done = subprocess.run(verify, input=release, capture_output=True)
    if done.returncode or f" {hashlib.sha256(packed).hexdigest()} ".encode() not in b" %b " % done.stdout:
        raise CannotBeHad("the index is not one that Debian has signed")
    text = lzma.decompress(packed).decode()
    said = (dict(re.findall(r"^(\S+): (.*)$", part, re.MULTILINE)) for part in text.split("\n\n"))
    return {one["Package"]: one for one in said if "Package" in one}


def _needed(index: dict[str, dict[str, str]]) -> list[str]:
    needed, coming = [], [_PACKAGE]
    while coming:
        name = coming.pop()
        if name in needed or name not in index or _NOT_NEEDED.search(name):
            continue
        needed.append(name)
        coming += [
            re.split(r"[ :(|]", one.strip())[0] for one in index[name].get("Depends", "").split(",") if one.strip()
        ]
    return needed


def _fetched(archive: str, package: dict[str, str], into: Path) -> Path:
    content = _read(f"{archive}/{package['Filename']}")
    if hashlib.sha256(content).hexdigest() != package["SHA256"]:
        raise CannotBeHad(f"{package['Package']} is not the one of the index")
    file = into / f"{package['Package']}.deb"
    file.write_bytes(content)
    return file


def _read(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return bytes(answer.read())
    except OSError as error:
        raise CannotBeHad(f"{url}: {error}") from error
