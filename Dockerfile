# One image for Airflow's services and for Spark's, so that drivers and executors never differ in a version.
FROM python:3.11.14-slim-bookworm

# Spark needs Java, and `ps` in its scripts.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*

# /var/lib/sluice exists in the image so that the volume mounted there belongs to the user.
RUN useradd --uid 50000 --create-home --home-dir /var/lib/sluice sluice \
    && install -d -o sluice -g sluice /opt/sluice
USER sluice
WORKDIR /opt/sluice

COPY --chown=sluice . .
# The launcher makes .venv from uv.lock before it does anything else.
RUN ./sluice --help > /dev/null && rm -rf /var/lib/sluice/.cache .sluice

ENV PATH=/opt/sluice/.venv/bin:$PATH \
    PYTHONPATH=/opt/sluice/include:/opt/sluice/plugins
ENTRYPOINT ["/opt/sluice/deploy/start.sh"]
