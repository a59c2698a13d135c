# Vitrine in a container: one image for crawls, workers, the web side, scrapyd and the cleanup (compose.yaml).
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
COPY requirements/ requirements/
RUN python -m venv /opt/vitrine \
 && /opt/vitrine/bin/pip install --no-cache-dir --require-hashes -r requirements/runtime.txt \
 && python -m venv /opt/scrapyd \
 && /opt/scrapyd/bin/pip install --no-cache-dir --require-hashes -r requirements/runtime.txt -r requirements/scrapyd.txt
COPY pyproject.toml setup.py README.md LICENSE ./
COPY crawler/ crawler/
# Into one of the two: where scrapyd runs, an installed project would come before every egg.
RUN /opt/vitrine/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim-bookworm
RUN apt-get update \
 && apt-get install --yes --no-install-recommends chromium fonts-liberation \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --home-dir /var/lib/vitrine --create-home vitrine \
 && install --directory --owner=vitrine /var/lib/vitrine/scrapyd
COPY --from=build /opt/vitrine /opt/vitrine
COPY --from=build /opt/scrapyd /opt/scrapyd
COPY deploy/scrapyd.conf /etc/scrapyd/scrapyd.conf
ENV PATH=/opt/vitrine/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    VITRINE_HOME=/var/lib/vitrine
USER vitrine
WORKDIR /var/lib/vitrine
VOLUME /var/lib/vitrine
STOPSIGNAL SIGTERM
ENTRYPOINT ["vitrine"]
CMD ["--help"]
