"""A server that lets nobody in without TLS, with certificates that are made for it."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from support.installing import installed
from support.places import reserve_port

from sluice.connections import ConnectionInfo
from sluice.libpq import parameters
from sluice.runtime import postgres_dirs
from sluice.runtime.postgres import SUPERUSER, Cluster

_HBA = """
local all all peer map=owner
hostssl all +certified 127.0.0.1/32 scram-sha-256 clientcert=verify-ca
hostssl all all 127.0.0.1/32 scram-sha-256
"""


class Authority:
    """Signs certificates; its own is in `file`."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory, self._key = directory, ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self.file = directory / f"{name}.crt"
        made = self._builder(self._name, self._key, is_authority=True).sign(self._key, hashes.SHA256())
        self.file.write_bytes(made.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str) -> tuple[Path, Path]:
        """The files of a certificate for this host, or person, and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        named = x509.SubjectAlternativeName([x509.DNSName(name)])
        made = self._builder(subject, key, is_authority=False).add_extension(named, critical=False)
        files = self._directory / f"{name}.crt", self._directory / f"{name}.key"
        files[0].write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        files[1].touch(0o600)
        files[1].write_bytes(key.private_bytes(*form))
        return files

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, *, is_authority: bool
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        )


class Distributed(Cluster):
    """PostgreSQL of the distribution, of any version: the packaged one is built without TLS."""

    locale: ClassVar = ["--locale=C.UTF-8"]

    def _initdb(self) -> None:
        super()._initdb()
        # Before PostgreSQL 16 the word `all` is a role's name in a map.
        with (self._data / "pg_ident.conf").open("a") as file:
            file.write(f'owner "{pwd.getpwuid(os.geteuid()).pw_name}" {SUPERUSER}\n')


def _binaries() -> str | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return str(found[-1].parent) if found else None


class Secured:
    """A running server; its certificate is for `localhost`, and clients that verify it know it by that name."""

    def __init__(self, server_class: Callable[[Cluster], Any], directory: Path) -> None:
        self.cluster = Distributed(directory / "server")
        # Older versions do not know all that other servers of tests are told.
        self.cluster.start("fsync = off\nfull_page_writes = off", reserve_port())
        self._server = server_class(self.cluster)
        self.authority = Authority(directory, "authority")
        with self.cluster.admin() as admin:
            (data,) = map(Path, admin.execute("SHOW data_directory").fetchone() or ())
            owner = (data / "PG_VERSION").stat()
            given = {"ssl_cert_file": self.authority.issue("localhost")[0], "ssl_ca_file": self.authority.file}
            given["ssl_key_file"] = directory / "localhost.key"
            for setting, file in given.items():
                copy = data / file.name
                copy.touch(0o600)
                copy.write_bytes(file.read_bytes())
                os.chown(copy, owner.st_uid, owner.st_gid)
                admin.execute(f"ALTER SYSTEM SET {setting} = '{copy.name}'".encode())
            (data / "pg_hba.conf").write_text(_HBA)
            admin.execute("ALTER SYSTEM SET ssl = on")
            admin.execute("CREATE ROLE certified")
            admin.execute("SELECT pg_reload_conf()")

    @property
    def verified(self) -> dict[str, str]:
        """The extra of a connection that verifies the server."""
        return {"sslmode": "verify-full", "sslrootcert": str(self.authority.file)}

    def create_database(self) -> ConnectionInfo:
        """A fresh database, and how it is reached with its certificate verified."""
        return replace(self._server.create_database(), host="localhost", extra=self.verified)

    def create_store(self) -> ConnectionInfo:
        """A control store, reached likewise."""
        return replace(self._server.create_store(), host="localhost", extra=self.verified)

    def connect(self, info: ConnectionInfo) -> psycopg.Connection[tuple[Any, ...]]:
        """An autocommit session of an ordinary client, as its connection has it."""
        return psycopg.connect(autocommit=True, **parameters(info, "test"))


@pytest.fixture(scope="module")
def secured(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """The server; its data goes with the module."""
    binaries = Path(installed(_binaries, "postgresql"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(postgres_dirs, "packaged_binaries", lambda: binaries)
        made = Secured(type(server), tmp_path_factory.mktemp("secured"))
    yield made
    made.cluster.remove()
