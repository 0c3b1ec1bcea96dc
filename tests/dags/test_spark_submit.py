"""The same job by spark-submit, for real: a driver in local mode."""

from __future__ import annotations

import shutil

import pytest

from sluice.connections import open_sealed
from sluice_airflow.failures import JobFailed, JobPostponed
from sluice_airflow.operator import SluiceSparkOperator

CANARY = "canary-5f3a9c-password"
JOB = """
import argparse, json, os, sys
from pathlib import Path
from pyspark.sql import SparkSession
options = argparse.ArgumentParser()
options.add_argument("--source")
options.add_argument("--slave")
options.add_argument("--exit", type=int, default=0)
options = options.parse_args()
spark = SparkSession.builder.getOrCreate()
if options.exit:
    print(f"SLC-041: asked for exit code {options.exit}\\nHINT: ask for another", file=sys.stderr)
    sys.exit(options.exit)
everybody = []
for entry in Path("/proc").glob("[0-9]*/cmdline"):
    try:
        everybody.append(entry.read_bytes().replace(b"\\0", b" ").decode())
    except OSError:
        pass
jvm = Path(f"/proc/{os.getppid()}")
held = {os.readlink(entry) for entry in (jvm / "fd").iterdir()}
sockets = [line.split() for name in ("tcp", "tcp6") for line in (jvm / "net" / name).read_text().splitlines()[1:]]
result = {
    "sum": spark.range(10).selectExpr("sum(id)").first()[0],
    "app": spark.conf.get("spark.app.name"),
    "conf": dict(spark.sparkContext.getConf().getAll()),
    "sealed": os.environ["SLUICE_CONNECTIONS"],
    "env": dict(os.environ),
    "jvm_env": (jvm / "environ").read_bytes().decode(errors="replace"),
    "everybody": everybody,
    "listens": [each[1].split(":")[0] for each in sockets if each[3] == "0A" and f"socket:[{each[9]}]" in held],
    "python": sys.executable,
}
print(json.dumps(result))
"""

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("java") is None, reason="needs Java"),
]


@pytest.fixture
def submit(deployment, context, connect):
    # A driver that lives for seconds is not worth compiling well.
    conf = {"spark.ui.port": "0", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    connect("test_spark", conn_type="spark", host="local[1]", password=CANARY, extra={"conf": conf})
    deployment.job(JOB)

    def run(**arguments) -> dict:
        task = SluiceSparkOperator(
            task_id="t", job="fake", arguments={"source": "flights", "slave": ["zurich"], **arguments}
        )
        return task.execute(context)

    return run


def test_spark_submit_runs_the_job_and_shows_no_password(submit, caplog):
    result = submit()
    assert result["sum"] == 45
    assert result["app"] == "sluice.fake flights -> zurich"
    assert open_sealed(result["sealed"])["test_zurich"].password == CANARY
    # Pages and all else on 127.0.0.1 alone.
    assert {address.removeprefix("0000000000000000FFFF0000") for address in result["listens"]} == {"0100007F"}
    assert len(result["listens"]) > 1
    # Neither the password nor the sealed text on any command line or in a Spark property; and no password at all.
    assert CANARY not in str(result)
    assert result["sealed"] not in str(result["everybody"])
    assert result["sealed"] not in str(result["conf"])
    assert "SPARK_REMOTE" not in result["env"]
    assert CANARY not in caplog.text


@pytest.mark.full
@pytest.mark.parametrize(("code", "error"), [(3, JobFailed), (75, JobPostponed)])
def test_spark_submit_hands_on_exit_codes_and_errors(submit, code, error):
    with pytest.raises(error, match=f"^SLC-041: asked for exit code {code}\nHINT: ask for another$"):
        submit(exit=code)
