"""An Airflow of others: what it lacks is named, and `init` makes it."""

from __future__ import annotations

import pytest

from sluice.cli import init as command
from sluice.config import configuration, pools
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.monitor import check
from sluice_airflow import init


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
        f"sluice_dags({str(configuration.path().absolute())!r})",
    )
    assert check._airflow(context).startswith("Airflow has all 4 pools and 12 DAGs")
    init.main()
    assert capsys.readouterr().out == f"there: the DAG file {folder / 'sluice_replication.py'}\n"


def test_pools_that_are_larger_stay_so(no_pools, context, tmp_path, monkeypatch):
    from airflow.models import Pool

    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(tmp_path))
    Pool.create_or_update_pool(pools.BULK, 9, "", include_deferred=False)
    init.main()
    assert Pool.get_pool(pools.BULK).slots == 9


def test_init_names_what_it_cannot_make(tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv(configuration.CONFIG_ENV, str(tmp_path / "a file" / "replication.yaml"))
    with pytest.raises(SluiceError, match=r"SLC-397: what it needs could not be made: .*a file"):
        command.init()


def test_init_says_why_airflow_has_no_database(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", f"sqlite:///{tmp_path}/nowhere/airflow.db")
    with pytest.raises(SluiceError, match=r"SLC-397: .*unable to open database file") as failed:
        command.init()
    assert "Background" not in str(failed.value)
