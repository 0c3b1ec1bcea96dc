"""Encodes COPY data in files: compressed, or as XML messages; encrypted if there is a key."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Protocol

import pyarrow as pa
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from sluice.errors import ConfigError, SluiceError
from sluice.messages.message import DUMP, Description, Message, Row
from sluice.messages.xml_reader import parse
from sluice.messages.xml_writer import render
from sluice.model.names import TableName
from sluice.storage.keys import secret
from sluice.storage.private_files import Readable
from sluice.vendors.protocol.read import RowFormat
from sluice.vendors.protocol.tasks import Form

BUFFER_BYTES = 1024 * 1024
_KEY_BYTES, _NONCE_BYTES = 32, 12
# What an encrypted file begins with: no manifest does, and nothing compressed.
_MAGIC = b"sluice AES-256-GCM\n"
_COLUMN = "content"


class Writable(Protocol):
    """A file that is written to."""

    def write(self, data: bytes, /) -> object:
        """Take some bytes."""


class Sink(Protocol):
    """A piece as it is written."""

    def write(self, data: memoryview, /) -> object:
        """Take some bytes."""

    def close(self) -> object:
        """All is there."""


@dataclass(frozen=True)
class Packing:
    """The encoding of COPY data into files, and the decoding.

    Attributes:
        form: also what the names of files end with.
        key_file: with the key that they are encrypted with, on every machine that writes or reads them.
    """

    form: Form = "zst"
    key_file: str | None = None

    def payload(self, max_bytes: int) -> int:
        """The number of bytes of COPY data that need at most `max_bytes` in a file, before compression."""
        return max_bytes if self.form == "zst" else max(1, max_bytes * 2 // 3)

    def sink(self, file: Writable, name: str, description: Description) -> Sink:
        """A sink that encodes COPY data into a file of that name.

        Args:
            description: of a message what stands before the piece.
        """
        if self.form == "zst" and self.key_file is None:
            return pa.CompressedOutputStream(pa.PythonFile(file, "w"), "zstd")  # type: ignore[no-any-return]
        return _WholeFile(self, file, name, description)

    def pieces(self, file: Readable, name: str) -> Iterator[bytes]:
        """The piece that stands in a file, in parts.

        Raises:
            ValueError, OSError, ArrowException: it is not what a sink wrote.
            SluiceError: see `decrypt`.
        """
        if self.key_file is not None:
            file = BytesIO(self.decrypt(_all(file), name))
        if self.form == "xml":
            ((_, content),) = parse(_all(file)).rows[0].columns
            if not isinstance(content, bytes):
                raise ValueError("the piece is no base64")
            yield content
            return
        unpacked = pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")
        # PyArrow's `read` keeps what it had reserved for good, if the file is damaged.
        while buffer := unpacked.read_buffer(BUFFER_BYTES).to_pybytes():
            yield buffer

    def encrypt(self, content: bytes, name: str) -> bytes:
        """Encrypt the content of a file, if there is a key. Without the key it can be neither read nor changed, and no
        file can take the name of another.

        Raises:
            ConfigError: SLC-243, the key cannot be read.
        """
        if self.key_file is None:
            return content
        nonce = os.urandom(_NONCE_BYTES)
        return _MAGIC + nonce + AESGCM(encryption_key(self.key_file)).encrypt(nonce, content, name.encode())

    def decrypt(self, content: bytes, name: str) -> bytes:
        """Decrypt what `encrypt` wrote.

        Raises:
            SluiceError: SLC-192, it was encrypted with another key, or one of the two has none.
            ConfigError: SLC-243, the key cannot be read.
        """
        encrypted = content.startswith(_MAGIC)
        if self.key_file is None:
            if encrypted:
                raise _decryption_error(name, "it is encrypted, and there is no key_file")
            return content
        if not encrypted:
            raise _decryption_error(
                name, f"it is not encrypted, and what comes is to be, with the key in {self.key_file}"
            )
        nonce, rest = content[len(_MAGIC) :][:_NONCE_BYTES], content[len(_MAGIC) + _NONCE_BYTES :]
        try:
            return AESGCM(encryption_key(self.key_file)).decrypt(nonce, rest, name.encode())
        except (InvalidTag, ValueError):
            raise _decryption_error(
                name, f"it was not encrypted under this name with the key in {self.key_file}"
            ) from None


class _WholeFile:
    """A file that is encoded as a whole when it is closed."""

    def __init__(self, packing: Packing, file: Writable, name: str, description: Description) -> None:
        self._packing = packing
        self._file = file
        self._name = name
        self._description = description
        self._piece = BytesIO()

    def write(self, data: memoryview, /) -> object:
        """Take some bytes."""
        return self._piece.write(data)

    def close(self) -> object:
        """Make it."""
        content = self._piece.getvalue()
        if self._packing.form == "xml":
            content = render(Message(self._description, (Row(((_COLUMN, content),)),))).encode()
        else:
            content = pa.Codec("zstd").compress(content, asbytes=True)
        return self._file.write(self._packing.encrypt(content, self._name))


def message(table: TableName, chunk: int, piece: int, form: RowFormat) -> Description:
    """The description of an XML message with rows in a format."""
    attributes = {"schema": table.schema, "tableName": table.table, "piece": str(piece), "format": form}
    return Description(DUMP, str(chunk), attributes=attributes)


def _all(file: Readable) -> bytes:
    return b"".join(iter(lambda: file.read(BUFFER_BYTES), b""))


def encryption_key(file: str) -> bytes:
    """The key that is in a file.

    Raises:
        ConfigError: SLC-243, it cannot be read, or is none; others may read it.
    """
    try:
        # Of the two alphabets of base64 whichever it is in.
        text = secret(file).strip().translate(bytes.maketrans(b"-_", b"+/"))
        key = base64.b64decode(text, validate=True)
        if len(key) != _KEY_BYTES:
            raise ValueError(f"it holds {len(key)} bytes")
    except (OSError, binascii.Error, ValueError) as error:
        raise ConfigError(
            243,
            f"{file} is no key for initial data, which is {_KEY_BYTES} bytes in base64: {error}",
            f"make one, for every machine that stores or loads: (umask 077 && openssl rand -base64 32 > {file})",
        ) from None
    return key


def _decryption_error(name: str, why: str) -> SluiceError:
    return SluiceError(
        192,
        f"{name} cannot be opened: {why}",
        "the slave keeps what it has; give `initial_files.key_file` of the source and of the slave the same key. If "
        "they have it, the data is of somebody else: find out who made it",
    )
