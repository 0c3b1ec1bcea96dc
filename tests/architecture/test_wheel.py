"""The wheel of `./sluice build` has all that a deployment needs, and works as an archive as well as installed."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from sluice import release
from sluice.dev import wheel

PROJECT = Path(__file__).resolve().parents[2]
# By their places in the wheel.
FOLDERS = {
    "sluice": "include/sluice",
    "sluice_airflow": "plugins/sluice_airflow",
    "sluice_airflow_dags": "dags/sluice_airflow_dags",
    **{f"sluice/project/{name}": name for name in ("spark_jobs", "sql", "include/config", "include/docs")},
}
# Of the package, what the wheel has not.
CHECKOUT = ("bench", "demo", "dev")
# Extras: the modules that they bring, and one of ours that needs them. Without its own, libpq may be the system's.
LACKING = [
    ("mariadb", ["pymysql"], "sluice.vendors.mariadb.vendor"),
    ("oracle", ["oracledb"], "sluice.vendors.oracle.vendor"),
    ("iceberg", ["pyiceberg"], "sluice.vendors.iceberg.tables"),
    ("spark", ["pyspark"], "sluice.spark.steps"),
    ("postgresql", ["psycopg_c", "psycopg_binary", "psycopg.pq.pq_ctypes"], "sluice.store.engine"),
]
# Files beside sluice.release, which has the version.
NAME_THE_VERSION = ("include/docs/install.md", "include/docs/relay.md", "plugins/sluice.dist-info/METADATA")


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    return wheel.build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def built(files):
    (found,) = [file for file in files if file.suffix == ".whl"]
    return found


@pytest.fixture(scope="session")
def archive(built):
    with ZipFile(built) as opened:
        yield opened


@pytest.mark.parametrize("place", FOLDERS)
def test_the_wheel_has_every_file_of_a_folder(archive, place):
    folder = PROJECT / FOLDERS[place]
    files = [file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    wanted = {
        f"{place}/{file.relative_to(folder)}"
        for file in files
        if not {folder / name for name in CHECKOUT} & {*file.parents}
    }
    assert wanted
    assert wanted <= set(archive.namelist())


def test_the_archive_of_the_source_is_the_checkout_as_git_has_it(files):
    (source,) = [file for file in files if file.suffix == ".gz"]
    top = f"sluice-{release.VERSION}/"
    with tarfile.open(source) as opened:
        names = {name.removeprefix(top) for name in opened.getnames()}
    known = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files_of_git = subprocess.run(known, cwd=PROJECT, check=True, capture_output=True, text=True).stdout.splitlines()
    assert names - set(files_of_git) == {"PKG-INFO"}
    assert {"sluice", "README.md", "spark_jobs/drain.py", "sql/README.md"} <= names


def test_the_wheel_has_nothing_for_developers(archive):
    names = archive.namelist()
    theirs = ("tests/", *(f"sluice/{name}/" for name in CHECKOUT))
    assert not [name for name in names if "__pycache__" in name or name.startswith(theirs)]


def test_the_wheel_asks_for_bounds_and_not_for_single_versions(archive):
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = email.message_from_bytes(archive.read(name))
    assert metadata["Name"] == "sluice"
    extras = {"aws", "postgresql", "iceberg", "mariadb", "oracle", "spark", "connect", "embedded"}
    assert set(metadata.get_all("Provides-Extra")) == extras
    assert not [each for each in metadata.get_all("Requires-Dist") if "==" in each.partition(";")[0]]


def test_a_checkout_tells_airflow_the_same_as_the_wheel(archive):
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt")]
    told = PROJECT / "plugins" / "sluice.dist-info"
    assert told.joinpath("entry_points.txt").read_text().strip() in archive.read(name).decode()


@pytest.mark.parametrize("name", NAME_THE_VERSION)
def test_a_file_that_cannot_ask_names_the_version_of_the_product(name):
    said = re.findall(r"(?:sluice[a-z-]*[-:]|^Version: )(\d+\.\d+\.\d+)", (PROJECT / name).read_text(), re.MULTILINE)
    assert set(said) == {release.VERSION}


@pytest.mark.parametrize("form", ["archive", "installed"])
def test_the_wheel_alone_is_the_build_of_its_checkout_and_has_its_sql(built, tmp_path, form):
    place = tmp_path / "sluice.zip"
    if form == "archive":
        shutil.copy(built, place)
    else:
        shutil.unpack_archive(built, place, "zip")
    asked = (
        "from sluice import paths, sqlfiles; print(paths.INSTALLED, paths.PROJECT);"
        "print(len(sqlfiles.names('postgresql', 'capture/install')));"
        "from sluice import release; print(release.build());"
        "print(all(sqlfiles.statement('postgresql', one) for one in sqlfiles.names('postgresql', 'capture/install')))"
    )
    env = {**os.environ, "PYTHONPATH": str(place)}
    done = subprocess.run([sys.executable, "-c", asked], env=env, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    where, count, build, read = done.stdout.splitlines()
    assert where == f"True {place}/sluice/project"
    assert int(count) == len(list((PROJECT / "sql/postgresql/capture/install").glob("*.sql")))
    assert build == release.build()
    assert read == "True"


@pytest.mark.postgres
def test_an_archive_makes_the_tables_of_a_store(built, server, tmp_path):
    store, place = server.create_database(), shutil.copy(built, tmp_path / "sluice.zip")
    asked = (
        "from sluice.connections import ConnectionInfo; from sluice.store.engine import Store;"
        f"Store(ConnectionInfo(**{vars(store)})).migrate()"
    )
    (left := tmp_path / "temporary").mkdir()
    env = {**os.environ, "PYTHONPATH": str(place), "TMPDIR": str(left)}
    done = subprocess.run([sys.executable, "-c", asked], env=env, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with server.connect(store) as session:
        assert session.execute("SELECT version_num FROM alembic_version").fetchone() == ("0001",)
    assert not list(left.iterdir())


def test_pages_are_rendered_from_the_wheel_alone(built, tmp_path):
    shutil.unpack_archive(built, tmp_path, "zip")
    asked = "from sluice.pages import html; print(html.HERE, *html._TEMPLATES.list_templates(), *html.STATIC)"
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", asked], env=env, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    folder, *names = done.stdout.split()
    assert folder == str(tmp_path / "sluice" / "pages")
    assert {"base.html", "list.html", "details.html"} <= set(names)
    files = [
        tmp_path / "sluice/pages" / ("static" if "css" in one or "js" in one else "templates") / one for one in names
    ]
    assert all(file.is_file() for file in files)


@pytest.mark.parametrize(("extra", "lacking", "module"), LACKING, ids=[extra for extra, *_ in LACKING])
def test_what_lacks_an_extra_names_it(extra, lacking, module):
    tried = f"""
import sys
from sluice import library_errors
sys.modules.update(dict.fromkeys({lacking}))
try:
    import {module}
except Exception as error:
    library_errors.tell(error)
"""
    env = {**os.environ, "PYTHONPATH": str(PROJECT / "include")}
    done = subprocess.run([sys.executable, "-c", tried], env=env, capture_output=True, text=True)
    assert done.stderr.startswith(f"SLC-281: a package is not installed that belongs to the extra `{extra}`: ")
    assert f'pip install "sluice[{extra}]"' in done.stderr
