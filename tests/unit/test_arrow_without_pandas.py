"""PyArrow does without pandas until somebody imports it, and knows it from then on."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

HIDDEN = """
    import sys
    from sluice.arrow_without_pandas import hide_pandas
    hide_pandas()
    import pyarrow as pa
    assert pa.array([1, None]).null_count == 1
    assert "pandas" not in sys.modules
"""
LATE = """
    import sys
    import pyarrow as pa
    from sluice.arrow_without_pandas import hide_pandas
    hide_pandas()
    hide_pandas()
    assert pa.array([1, None]).null_count == 1
    assert "pandas" not in sys.modules
"""
TO_PANDAS = """
    frame = pa.table({"a": [1, None]}).to_pandas()
    assert frame["a"].isna().tolist() == [False, True]
    assert pa.Table.from_pandas(frame).column("a").to_pylist() == [1.0, None]
"""
# Without pandas PyArrow has a NaN here, and no null.
SERIES = """
    import pandas as pd
    assert pa.array(pd.Series([1.0, float("nan")])).null_count == 1
    assert pd.__spec__.loader.get_filename() == pd.__file__
"""
PYSPARK = """
    import pyspark.sql.connect.session
    import pandas as pd
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    table = pa.Table.from_pandas(pd.DataFrame({"a": ["x", None], "at": pd.to_datetime(["2026-01-01", None])}))
    assert table.column("at").null_count == table.column("a").null_count == 1
    assert to_arrow_schema(from_arrow_schema(table.schema)).names == ["a", "at"]
"""
OTHER_THREAD = """
    from threading import Thread
    other = Thread(target=lambda: __import__("pandas"))
    other.start()
    other.join()
    assert pa.array(sys.modules["pandas"].Series([1.0, float("nan")])).null_count == 1
"""


@pytest.mark.full(but=["then2-Arrow is there already", "then0-hidden first"])
@pytest.mark.parametrize("before", [HIDDEN, LATE], ids=["hidden first", "Arrow is there already"])
@pytest.mark.parametrize("then", [TO_PANDAS, SERIES, PYSPARK, OTHER_THREAD])
def test_pandas_is_there_when_somebody_needs_it(before, then):
    program = textwrap.dedent(before) + textwrap.dedent(then)
    done = subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_pandas_that_is_there_already_is_not_hidden():
    program = "import pandas as pd\nfrom sluice.arrow_without_pandas import hide_pandas\nhide_pandas()\n"
    program += "import pyarrow as pa\nassert pa.array(pd.Series([float('nan')])).null_count == 1"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
