"""Initial data that is carried by hand and signed: a slave that knows by whom takes nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_public_key,
)
from support.carrying import KEPT, ROWS, TABLES
from support.world import SOURCE

from sluice.errors import ConfigError, SluiceError
from sluice.initial_update.files.receive import expected_files
from sluice.initial_update.files.signature import SIGNATURE, private_key
from sluice.monitor.check import findings

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def keys(tmp_path):
    """Files with the private and the public key of some people, as openssl writes them; `oval` is of another kind."""
    makers = {"ours": Ed25519PrivateKey.generate, "theirs": Ed25519PrivateKey.generate}
    for name, made in {
        **{name: make() for name, make in makers.items()},
        "oval": generate_private_key(SECP256R1()),
    }.items():
        secret = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        public = made.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        (tmp_path / name).write_bytes(secret)
        (tmp_path / f"{name}.pub").write_bytes(public)
        for file in (name, f"{name}.pub"):
            (tmp_path / file).chmod(0o600)
    return lambda name: str(tmp_path / name)


@pytest.fixture
def signed(carried, keys):
    """A world whose source signs what it stores, and whose slave zurich has rows, and takes what is signed alone."""
    made = carried(ROWS, TABLES)
    made.world.reader("zurich").execute(KEPT)

    def configured(settings):
        settings["sources"][SOURCE]["initial_files"]["sign_with"] = keys("ours")
        settings["slaves"]["zurich"]["initial_files"]["signed_by"] = keys("ours.pub")

    made.world.configure(configured)
    return made


def refused(carried, code: int, named: str) -> None:
    """What came is not believed, and not one row is written."""
    with pytest.raises(SluiceError, match=named) as caught:
        carried.receive("zurich")
    assert caught.value.code == code
    assert carried.world.rows("zurich", "public.rows").total() == 1


@pytest.mark.full
def test_what_is_signed_is_loaded_also_by_who_does_not_ask_and_its_signature_can_be_checked_by_others(signed, keys):
    signed.store()
    copy = signed.carry("zurich")
    assert expected_files(signed.world.context, SOURCE, "zurich")["files"] == len(list(copy.iterdir()))
    public = load_pem_public_key(Path(keys("ours.pub")).read_bytes())
    public.verify((copy / SIGNATURE).read_bytes(), (copy / "manifest.json").read_bytes())
    signed.receive("zurich")
    signed.carry("geneva")
    signed.receive("geneva")
    signed.holds_everything()


def test_a_directory_without_its_signature_or_with_anothers_is_refused_before_one_row_is_written(signed, keys):
    signed.store("zurich")
    copy = signed.carry("zurich")
    signature, manifest = (copy / SIGNATURE).read_bytes(), (copy / "manifest.json").read_bytes()
    (copy / SIGNATURE).unlink()
    refused(signed, 192, f"there is no {SIGNATURE}")
    for wrong in (private_key(keys("theirs")).sign(manifest), signature[:-1], signature[::-1], b""):
        (copy / SIGNATURE).write_bytes(wrong)
        refused(signed, 192, f"{SIGNATURE} was made with another key")
    (copy / SIGNATURE).write_bytes(signature)
    (copy / "manifest.json").write_bytes(manifest.replace(b'"rows"', b'"rowz"', 1))
    refused(signed, 183, "manifest.json has another SHA-256")
    (copy / "manifest.json").write_bytes(manifest)
    signed.receive("zurich")
    assert signed.world.rows("zurich", "public.rows") == signed.world.rows("master", "public.rows")


def test_what_nobody_signed_is_refused_where_a_signature_is_wanted(signed, keys):
    signed.world.configure(lambda settings: settings["sources"][SOURCE]["initial_files"].pop("sign_with"))
    signed.store("zurich")
    signed.carry("zurich")
    refused(signed, 192, rf"was not signed with the private key of {keys('ours.pub')}: there is no {SIGNATURE}")


def test_a_whole_forged_directory_is_refused_though_the_control_store_believes_it(signed, keys):
    """Who can write to both would be believed without a signature."""
    signed.store("zurich")
    there = signed.awaited("zurich")
    signed.world.configure(
        lambda settings: settings["sources"][SOURCE]["initial_files"].update(sign_with=keys("theirs"))
    )
    signed.store("zurich", force=True)
    assert signed.awaited("zurich").sha256 != there.sha256
    signed.carry("zurich")
    refused(signed, 192, f"{SIGNATURE} was made with another key")


@pytest.mark.full
def test_a_private_key_that_is_none_ends_the_update_before_anything_is_stored(signed, keys):
    for wrong in ("nowhere", "oval", "ours.pub"):
        signing = {"sign_with": keys(wrong)}
        signed.world.configure(lambda plain, to=signing: plain["sources"][SOURCE]["initial_files"].update(to))
        with pytest.raises(SluiceError, match=rf"SLC-243: {keys(wrong)} is no private key of Ed25519"):
            signed.store("zurich", force=True)
        assert not signed.stored.exists()


def test_a_private_key_that_others_may_read_ends_the_update_before_anything_is_stored_and_check_tells(signed, keys):
    def told() -> list[str]:
        found = {one.subject: one.text for one in findings(signed.world.context)}
        return [found[subject] for subject in (f"keys of {SOURCE}", "keys of zurich")]

    assert all(text.startswith("can be read") for text in told())
    Path(keys("ours")).chmod(0o640)
    # A public key is nobody's secret.
    Path(keys("ours.pub")).chmod(0o666)
    with pytest.raises(SluiceError, match=rf"SLC-243: others may read {keys('ours')}, .* mode 0640") as caught:
        signed.store("zurich")
    assert f"chmod 600 {keys('ours')}," in caught.value.hint
    assert not signed.stored.exists()
    private, public = told()
    assert f"HINT: chmod 600 {keys('ours')}," in private
    assert public.startswith("can be read")


@pytest.mark.full
def test_a_public_key_that_is_none_is_named(signed, keys):
    signed.store("zurich")
    signed.carry("zurich")
    for wrong in ("nowhere", "oval.pub", "ours"):
        known = {"signed_by": keys(wrong)}
        signed.world.configure(lambda plain, to=known: plain["slaves"]["zurich"]["initial_files"].update(to))
        with pytest.raises(ConfigError, match="is no public key of Ed25519"):
            signed.receive("zurich")


@pytest.mark.full
def test_what_is_encrypted_can_be_signed_too(signed, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("A" * 43 + "=")
    secret.chmod(0o600)

    def configured(settings):
        settings["sources"][SOURCE]["initial_files"]["key_file"] = str(secret)
        settings["slaves"]["zurich"]["initial_files"]["key_file"] = str(secret)

    signed.world.configure(configured)
    signed.store("zurich")
    signed.carry("zurich")
    signed.receive("zurich")
    assert signed.world.rows("zurich", "public.rows") == signed.world.rows("master", "public.rows")
