#!/usr/bin/env python3
"""Writes deploy/secrets: a fresh random secret for everything in docker-compose.yaml, and Airflow's connections.

Standard library only. Run once before the first `docker compose up`. Nothing that exists is overwritten.
"""

from __future__ import annotations

import base64
import json
import secrets
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parent / "secrets"


NAMES = (
    *("control", "airflow", "store", "master_admin", "master", "slave_admin", "slave"),
    *("admin", "relay", "oracle", "spark"),
)


def contents() -> dict[str, str]:
    """File name -> text. The passwords inside belong together, so they are made together."""
    word = {name: secrets.token_urlsafe(24) for name in NAMES}
    token = secrets.token_urlsafe(32)
    postgres = {"conn_type": "postgres", "port": 5432}
    connections = {
        "sluice_control": {
            **postgres, "host": "control-db", "schema": "sluice_control", "login": "sluice", "password": word["store"],
        },
        "sluice_master": {
            **postgres, "host": "master-db", "schema": "shop", "login": "sluice", "password": word["master"],
        },
        "sluice_slave": {
            **postgres, "host": "slave-db", "schema": "shop", "login": "sluice", "password": word["slave"],
        },
        "sluice_relay_printer": {"conn_type": "generic", "password": word["relay"]},
        "sluice_spark": {"conn_type": "spark_connect", "host": "localhost", "port": 15002, "password": token},
        "sluice_airflow_api": {
            "conn_type": "http", "host": "airflow-api-server", "port": 8080,
            "login": "admin", "password": word["admin"],
        },
    }  # fmt: skip
    return {
        "control_password": word["control"],
        "airflow_password": word["airflow"],
        "store_password": word["store"],
        "master_admin_password": word["master_admin"],
        "master_password": word["master"],
        "slave_admin_password": word["slave_admin"],
        "slave_password": word["slave"],
        "oracle_password": word["oracle"],
        "connect_token": token,
        "spark_secret": word["spark"],
        "airflow_database_url": f"postgresql+psycopg://airflow:{word['airflow']}@control-db:5432/airflow",
        "airflow_users": json.dumps({"admin": word["admin"]}),
        "airflow_fernet_key": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        "airflow_jwt_secret": secrets.token_urlsafe(48),
        "airflow_secret_key": secrets.token_urlsafe(48),
        "connections.json": json.dumps(connections, indent=2),
        "seal_key": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
    }


def write(target: Path) -> None:
    """Write every file. Raises FileExistsError, before anything is written, if the folder exists."""
    # The folder keeps others on this machine out; the containers' users must be able to read the files in it.
    target.mkdir(mode=0o700, parents=True)
    for name, text in contents().items():
        file = target / name
        file.write_text(text)
        file.chmod(0o444)


if __name__ == "__main__":
    try:
        write(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
    except FileExistsError as error:
        sys.exit(f"{error.filename} exists; nothing was changed\nHINT: remove it to make new secrets")
