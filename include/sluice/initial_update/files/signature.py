"""Signatures of manifests (Ed25519), verified by the public key of the sender."""

from __future__ import annotations

from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from sluice.errors import ConfigError, SluiceError
from sluice.storage.keys import secret

# Beside the manifest: 64 bytes, made of the manifest's as they are on the disk.
SIGNATURE = "manifest.json.sig"


def private_key(file: str) -> Ed25519PrivateKey:
    """The key that is signed with, a PEM file without a password.

    Raises:
        ConfigError: SLC-243, it cannot be read, or is none; others may read it.
    """
    try:
        key = load_pem_private_key(secret(file), None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _no_key(file, "private", str(error)) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(file, "private", "it is of another kind")
    return key


def expect_signed(manifest: bytes, signature: bytes | None, file: str, where: str) -> None:
    """See that a manifest was signed with the private key of this public one.

    Args:
        signature: what was found beside it, if anything was.
        file: with the public key, in PEM.
        where: the directory of both, for people.

    Raises:
        SluiceError: SLC-192, it was not.
        ConfigError: SLC-243, the key cannot be read, or is none.
    """
    key = public_key(file)
    try:
        if signature is None:
            raise InvalidSignature
        key.verify(signature, manifest)
    except InvalidSignature:
        why = f"there is no {SIGNATURE}" if signature is None else f"{SIGNATURE} was made with another key"
        raise SluiceError(
            192,
            f"{where} was not signed with the private key of {file}: {why}",
            "the slave keeps what it has; if the source has `initial_files.sign_with`, copy the whole directory again, "
            f"or give the slave the public key of that in `signed_by`: openssl pkey -in KEY -pubout -out {file}. If it "
            "has not, set it, and trigger initial_update with `force`. Else find out who made the data",
        ) from None


def public_key(file: str) -> Ed25519PublicKey:
    """The key that signatures are held against, a PEM file.

    Raises:
        ConfigError: SLC-243, it cannot be read, or is none.
    """
    try:
        key = load_pem_public_key(Path(file).read_bytes())
    except (OSError, ValueError, UnsupportedAlgorithm) as error:
        raise _no_key(file, "public", str(error)) from None
    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(file, "public", "it is of another kind")
    return key


def _no_key(file: str, kind: str, why: str) -> ConfigError:
    return ConfigError(
        243,
        f"{file} is no {kind} key of Ed25519 in PEM: {why}",
        "nothing was stored or loaded; make a pair, put the private key on the machines of Airflow's tasks that store, "
        "and the public one on those that load: openssl genpkey -algorithm ed25519 -out KEY && "
        "openssl pkey -in KEY -pubout -out KEY.pub",
    )
