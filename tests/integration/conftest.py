"""The small world for every test here."""

from support.sparkserver import java, spark_server
from support.updating import updating
from support.world import build

__all__ = ["build", "java", "spark_server", "updating"]
