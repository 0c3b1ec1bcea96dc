"""The small world for every test here."""

from support.airflow import airflow
from support.binlog import binlog, master_server
from support.bouncer import bouncer
from support.buckets import bucket, object_store
from support.carrying import carried
from support.interrupting import interrupted, small
from support.lake import lake
from support.managed import managed, oldest
from support.mariadb import maria, maria_server, slave_server
from support.mysql import mysql, mysql_server
from support.older import older
from support.restartable import restartable
from support.secured import secured
from support.several import several
from support.sparkcluster import spark_cluster
from support.sparkserver import java, spark_server
from support.updating import updating
from support.weaker import quiet, stranger, weak
from support.without_super import administrator, hours
from support.world import build

__all__ = [
    "administrator",
    "airflow",
    "binlog",
    "bouncer",
    "bucket",
    "build",
    "carried",
    "hours",
    "interrupted",
    "java",
    "lake",
    "managed",
    "maria",
    "maria_server",
    "master_server",
    "mysql",
    "mysql_server",
    "object_store",
    "older",
    "oldest",
    "quiet",
    "restartable",
    "secured",
    "several",
    "slave_server",
    "small",
    "spark_cluster",
    "spark_server",
    "stranger",
    "updating",
    "weak",
]
