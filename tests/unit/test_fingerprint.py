"""The fingerprint of a configuration, by which a newer one is told from that of the last run."""

from __future__ import annotations

EXAMPLE = """
sources:
  flights: {connection: master, tables: {public.airlines: {}}}
slaves:
  zurich: {connection: zurich}
replications:
  - {source: flights, slave: zurich}
"""


def test_what_a_run_reads_has_a_fingerprint_which_another_setting_changes_and_another_order_does_not(read):
    columns = [f"c{number}" for number in range(20)]
    taken = "zurich: {{connection: zurich, tables: {{public.airlines: {{exclude_columns: [{}]}}}}}}"

    def fingerprint(text: str, names: list[str] = columns) -> str:
        return read(text.replace("zurich: {connection: zurich}", taken.format(", ".join(names)))).fingerprint

    same = fingerprint(EXAMPLE)
    assert len(same) == 8
    assert fingerprint(EXAMPLE, columns[::-1]) == same
    # A page shows it at once, and no run reads it.
    assert fingerprint(EXAMPLE + "pages: {title: Production}\n") == same
    assert fingerprint(EXAMPLE.replace("slave: zurich}", "slave: zurich, alters: ask}")) != same
