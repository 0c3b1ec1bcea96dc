"""The embedded runtime: PostgreSQL, Spark Connect and Airflow on one machine, started and ended by `./sluice`.

Nothing of the replication lives here, and nothing of the replication needs this package: a deployment that brings its
own servers has its own ways to start them.
"""
