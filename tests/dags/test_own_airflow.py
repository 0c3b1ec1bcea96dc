"""An Airflow of others: what it lacks is named, and `init` makes it."""

from __future__ import annotations

import re

import pytest
from support.stock_deployment import DAGS, environment_of_dags

from sluice.cli import init as command
from sluice.cli import parser
from sluice.config import configuration, configuration_text, pools
from sluice.connections import SEALED_ENV
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.monitor import check
from sluice_airflow import init
from sluice_airflow_dags import sluice_dags


@pytest.fixture
def context(admin):
    settings = configuration.load()
    return Context(settings, {settings.airflow_api: admin})


@pytest.fixture
def no_pools(address):
    from airflow.models import Pool
    from airflow.utils.session import create_session
    from sqlalchemy import delete

    with create_session() as session:
        session.execute(delete(Pool).where(Pool.pool.like("sluice_%")))


def test_what_airflow_lacks_is_named_and_init_makes_it(no_pools, context, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "dags"
    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(folder))
    with pytest.raises(SluiceError, match="SLC-398: Airflow lacks pool sluice_publish of 1 slots, ") as lacking:
        check._airflow(context)
    assert "sluice init" in lacking.value.hint
    init.main()
    assert f"made: the DAG file {folder / 'sluice_replication.py'}" in capsys.readouterr().out
    first, second = (folder / "sluice_replication.py").read_text().splitlines()
    assert (first, second) == (
        "from sluice_airflow_dags import sluice_dags",
        f"sluice_dags({str(configuration_text.path().absolute())!r})",
    )
    assert check._airflow(context).startswith("Airflow has all 4 pools and 15 DAGs")
    init.main()
    assert capsys.readouterr().out == f"there: the DAG file {folder / 'sluice_replication.py'}\n"


def test_a_deployment_waits_for_as_many_dags_as_its_configuration_makes(tmp_path, monkeypatch):
    monkeypatch.setenv(configuration_text.CONFIG_ENV, environment_of_dags(tmp_path)["SLUICE_CONFIG"])
    assert len(sluice_dags()) == DAGS


NO_CALL = """
'''
sluice_dags("of a text")
'''
def sluice_dags(file): ...
sluice_dags("of somebody else")
"""
CALLS = {
    "of its own": ("from sluice_airflow_dags import sluice_dags as made\n\ndags = made(file={ours!r})", "there: "),
    "by the package": ("import sluice_airflow_dags\nglobals().update(sluice_airflow_dags.sluice_dags())", "there: "),
    "not named": ("import os\nfrom sluice_airflow_dags import sluice_dags\nsluice_dags(os.environ['X'])", "there: "),
    "none": (NO_CALL, "made: "),
    "no Python": ("sluice_dags(", "made: "),
}


@pytest.mark.parametrize(("text", "found"), CALLS.values(), ids=CALLS)
def test_a_file_that_makes_the_dags_is_known_by_its_call(text, found, tmp_path, deployment, capsys):
    (tmp_path / "mine.py").write_text(text.format(ours=str(configuration_text.path().absolute())))
    init._dag_file(tmp_path)
    assert capsys.readouterr().out.startswith(f"{found}the DAG file {tmp_path}")


def test_a_file_with_the_dags_of_another_configuration_is_named(tmp_path, deployment):
    (tmp_path / "mine.py").write_text("from sluice_airflow_dags import sluice_dags\nsluice_dags('/etc/another.yaml')")
    with pytest.raises(SystemExit, match=r"mine.py makes the DAGs of /etc/another.yaml, and .* is .*replication.yaml"):
        init._dag_file(tmp_path)
    assert [file.name for file in tmp_path.glob("*.py")] == ["mine.py"]


def test_pools_that_are_larger_stay_so(no_pools, context, tmp_path, monkeypatch):
    from airflow.models import Pool

    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(tmp_path))
    Pool.create_or_update_pool(pools.BULK, 9, "", include_deferred=False)
    init.main()
    assert Pool.get_pool(pools.BULK).slots == 9
    wanted = pools.slots(context.config)[pools.DRAIN]
    for name, slots in ((pools.BULK, 1), (pools.DRAIN, wanted - 1)):
        Pool.create_or_update_pool(name, slots, "", include_deferred=False)
    few = f"SLC-398: .*sluice_drain has {wanted - 1} slots, and {wanted} tasks may want one; sluice_bulk has 1 slots"
    with pytest.raises(SluiceError, match=few) as told:
        check._airflow(context)
    assert re.search(rf"pools set sluice_drain {wanted} Sluice$", told.value.hint)


def test_init_names_what_it_cannot_make(tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv(configuration_text.CONFIG_ENV, str(tmp_path / "a file" / "replication.yaml"))
    with pytest.raises(SluiceError, match=r"SLC-397: what it needs could not be made: .*a file"):
        command.init()


@pytest.mark.full(but=["check"])
@pytest.mark.parametrize(
    "words",
    [["init"], ["check"], ["check", "--deployment"], ["status"], ["trigger", "verify"]],
    ids=lambda words: " ".join(words),
)
def test_a_database_of_airflow_that_cannot_be_read_is_told_once(words, deployment, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", f"sqlite:///{tmp_path}/nowhere/airflow.db")
    monkeypatch.delenv("AIRFLOW_CONN_TEST_MASTER")
    # Else a process goes by what it was handed, and asks nobody.
    monkeypatch.delenv(SEALED_ENV, raising=False)
    assert parser.main(words) == 1
    said = capsys.readouterr().err
    assert said.startswith(
        "SLC-254: Airflow's own database cannot be read: unable to open database file\nHINT: correct "
    )
    assert (said.count("SLC-"), "sluice connect" in said) == (1, False)
