"""The variables of a process's environment by which a job finds its Spark.

Airflow's task sets them from its connection; no job inherits those of the process that started the task.
"""

# The address of a Connect server, and the token that it asks for; both are PySpark's own.
REMOTE_ENV = "SPARK_REMOTE"
TOKEN_ENV = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
# Python files that the executors of a Connect server lack, with commas.
PY_FILES_ENV = "SLUICE_PY_FILES"
