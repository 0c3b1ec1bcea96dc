"""The small worlds for every test here."""

from support.carrying import carried
from support.interrupting import interrupted, small
from support.restartable import fragile, restartable
from support.several import several
from support.sparkcluster import spark_cluster
from support.sparkserver import java
from support.updating import updating
from support.world import build

__all__ = [
    "build",
    "carried",
    "fragile",
    "interrupted",
    "java",
    "restartable",
    "several",
    "small",
    "spark_cluster",
    "updating",
]
