"""The pairs of Airflow and PySpark that the wheel runs beside, and what a resolver needs to be told of each."""

from __future__ import annotations

from typing import NamedTuple

# From 6 on the provider asks for pyspark-client, which has not each version of pyspark, and shares its folder.
_EARLIER = "apache-airflow-providers-apache-spark==5.6.0"
_LATER = "apache-airflow-providers-apache-spark==6.3.4"
_AIRFLOWS = {
    "3.1.8": ["sqlalchemy==2.0.*"],
    # With a later FastAPI its API server does not start.
    "3.2.2": ["sqlalchemy==2.0.*", "fastapi<0.137"],
    "3.3.2": ["sqlalchemy==2.1.*"],
}
_PYSPARKS = {
    # It asks for NumPy 1, and a later PyArrow for NumPy 2, which it does not say.
    "3.5.9": [_EARLIER, "pyarrow<20"],
    "4.0.4": [_LATER, "pyspark-client==4.0.4"],
    "4.1.3": [_LATER, "pyspark-client==4.1.3"],
    "4.2.0": [_LATER, "pyspark-client==4.2.0"],
    "4.3.0": [_EARLIER],
}


class Cell(NamedTuple):
    """A pair of versions.

    Attributes:
        python: if it is not the one that all tests run with.
    """

    airflow: str
    pyspark: str
    python: str = ""

    def __str__(self) -> str:
        beside = f"-python-{self.python}" if self.python else ""
        return f"airflow-{self.airflow}-pyspark-{self.pyspark}{beside}"

    @property
    def packages(self) -> list[str]:
        """What is there before the wheel."""
        named = [f"apache-airflow=={self.airflow}", f"pyspark[connect]=={self.pyspark}"]
        return [*named, *_AIRFLOWS[self.airflow], *_PYSPARKS[self.pyspark]]

    @property
    def has_connect_server(self) -> bool:
        """Whether a package of Python has Spark's Connect server."""
        return not self.pyspark.startswith("3.")


# Those that the documents call equal: all pairs, and one with other Pythons.
CELLS = [
    *(Cell(airflow, pyspark) for airflow in _AIRFLOWS for pyspark in _PYSPARKS),
    *(Cell("3.3.2", "4.2.0", python) for python in ("3.12", "3.13", "3.14")),
]
