# One image for Airflow's services and for Spark's, so that drivers and executors never differ in a version.
# Any Debian with a Python of 3.11 or later will do: docker build --build-arg BASE=...
ARG BASE=python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d
FROM ${BASE} AS built
WORKDIR /opt/sluice
# The packages first: they are installed again only when one of these changes.
COPY sluice pyproject.toml uv.lock ./
RUN UV_COMPILE_BYTECODE=1 ./sluice install --production && rm -rf .sluice
COPY . .
# Nobody can write bytecode into the image later, and without it every command compiles thousands of files anew.
RUN .venv/bin/python -m compileall -q dags include plugins spark_jobs

FROM ${BASE}
# Spark needs Java, and `ps` in its scripts.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*
# /var/lib/sluice exists in the image so that the volume mounted there belongs to the user. The product does not.
RUN useradd --uid 50000 --create-home --home-dir /var/lib/sluice sluice
COPY --from=built /opt/sluice /opt/sluice
USER sluice
# Where `docker compose exec SERVICE ./sluice ...` begins.
WORKDIR /opt/sluice
ENV PATH=/opt/sluice/.venv/bin:$PATH \
    PYTHONPATH=/opt/sluice/include:/opt/sluice/plugins
ENTRYPOINT ["/opt/sluice/deploy/start.sh"]
