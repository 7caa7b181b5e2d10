# Your own images: `docker build --build-arg BUILDER=… --build-arg BASE=…`. Both need the same Python,
# 3.11 or newer; BUILDER also `venv` and `strip`, BASE the `sh`, `date` and `sleep` of daily backups.
ARG BUILDER=python:3.13-bookworm
ARG BASE=python:3.13-slim-bookworm

FROM ${BUILDER} AS build
WORKDIR /src
# pip stays in an environment of its own, out of the result.
RUN python3 -m venv /opt/pip && python3 -m venv --without-pip /opt/mqbot
COPY requirements.txt ./
RUN /opt/pip/bin/pip --python /opt/mqbot/bin/python install \
    --no-cache-dir --no-compile --require-hashes --only-binary=:all: -r requirements.txt
# What builds the package is pinned as well, and stays out of the result.
COPY .github/build-requirements.txt ./
RUN /opt/pip/bin/pip install --no-cache-dir --require-hashes --only-binary=:all: \
    -r build-requirements.txt
COPY pyproject.toml README.md LICENSE manifest.yml ./
COPY bot bot
RUN /opt/pip/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /built . \
    && /opt/pip/bin/pip --python /opt/mqbot/bin/python install \
    --no-cache-dir --no-compile --no-deps --no-index /built/*.whl
# Debug symbols are a fifth of the size. psycopg's own libraries can't be stripped.
RUN find /opt/mqbot -name '*.so' -not -path '*/psycopg_binary*' -exec strip --strip-unneeded {} +
# The result is read-only, so what a start imports is compiled here, and nothing else.
RUN /opt/mqbot/bin/python -c "import alembic.command, bot.cli.serving, bot.runtime.process, psycopg"

FROM ${BASE}
RUN install -d -o 65532 -g 65532 -m 0700 /var/lib/mqbot
COPY --from=build /opt/mqbot /opt/mqbot
# The default database is /var/lib/mqbot/mqbot.sqlite3. Only published ports can be reached.
ENV PATH=/opt/mqbot/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    XDG_DATA_HOME=/var/lib \
    MQBOT_HEALTH_HOST=0.0.0.0 \
    MQBOT_HEALTH_PORT=8080 \
    MQBOT_HTTP_HOST=0.0.0.0
USER 65532:65532
WORKDIR /var/lib/mqbot
VOLUME /var/lib/mqbot
EXPOSE 3000 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s CMD ["python", "-c", "\
import http.client, os; \
connection = http.client.HTTPConnection('127.0.0.1', int(os.environ['MQBOT_HEALTH_PORT']), timeout=3); \
connection.request('GET', '/healthz'); \
raise SystemExit(connection.getresponse().status != 200)"]
ENTRYPOINT ["mqbot"]
CMD ["run"]
