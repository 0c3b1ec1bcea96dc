#!/bin/bash
# Starts one service of docker-compose.yaml: deploy/start.sh ROLE. Secrets are files in /run/secrets; a password is
# exported only to the process that needs it, and is never an argument.
set -euo pipefail

role=$1
# Spark and its jobs write where they are started, and nobody can write beside the product. A container that is started
# again finds the same directory.
place=${TMPDIR:-/tmp}/$role
mkdir -p "$place"
cd "$place"
# Master, workers, driver and executors ask each other for one secret, and encrypt what they say. It is in a file of this
# user: a command line would show it to others.
spark_file=$place/spark.conf
with_secret() {
    # The master's REST server would take applications from everybody.
    (umask 077 && printf 'spark.%s\n' 'authenticate true' 'network.crypto.enabled true' 'master.rest.enabled false' \
        "authenticate.secret $(cat /run/secrets/spark_secret)" > "$spark_file")
}
spark_class() {
    with_secret
    exec spark-class "$1" --properties-file "$spark_file" "${@:2}"
}

case $role in
    airflow-init)
        airflow db migrate
        python -m sluice_airflow.pools > "$AIRFLOW_HOME/pools.json"
        exec airflow pools import "$AIRFLOW_HOME/pools.json"
        ;;
    api-server)
        # Airflow opens this file for writing.
        install -m 600 /run/secrets/airflow_users "$AIRFLOW_HOME/users.json"
        exec airflow api-server
        ;;
    scheduler | dag-processor | triggerer)
        exec airflow "$role"
        ;;
    relay)
        exec python -m sluice.cli relay
        ;;
    spark-master)
        spark_class org.apache.spark.deploy.master.Master --host spark-master --port 7077 --webui-port 8080
        ;;
    spark-worker)
        # Files of applications that have ended go after a day. The Connect server's never ends: what its executors print
        # is cut into files, of which some are kept. It is the worker who writes them.
        export SPARK_WORKER_DIR=$place/work
        SPARK_WORKER_OPTS="-Dspark.worker.cleanup.enabled=true -Dspark.worker.cleanup.appDataTtl=86400"
        SPARK_WORKER_OPTS+=" -Dspark.executor.logs.rolling.strategy=size -Dspark.executor.logs.rolling.maxSize=10485760"
        SPARK_WORKER_OPTS+=" -Dspark.executor.logs.rolling.maxRetainedFiles=5"
        export SPARK_WORKER_OPTS
        spark_class org.apache.spark.deploy.worker.Worker --webui-port 8081 spark://spark-master:7077
        ;;
    spark-connect)
        SPARK_CONNECT_AUTHENTICATE_TOKEN=$(cat /run/secrets/connect_token)
        export SPARK_CONNECT_AUTHENTICATE_TOKEN
        # It shares the network of the scheduler, which is where the tasks run: so it listens on the loopback, and the
        # executors reach the driver under a name that it has in Spark's network alone.
        read -r address _ < <(getent ahostsv4 spark-driver)
        with_secret
        exec spark-submit \
            --properties-file "$spark_file" \
            --master spark://spark-master:7077 \
            --conf spark.connect.grpc.binding.address=127.0.0.1 \
            --conf spark.connect.grpc.binding.port=15002 \
            --conf spark.driver.host=spark-driver \
            --conf spark.driver.bindAddress="$address" \
            --conf spark.driver.port=7078 \
            --conf spark.blockManager.port=7079 \
            --conf spark.ui.enabled=false \
            --class org.apache.spark.sql.connect.service.SparkConnectServer \
            spark-internal
        ;;
    *)
        echo "deploy/start.sh: there is no role $role" >&2
        exit 2
        ;;
esac
