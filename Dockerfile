# The daemon, for your PostgreSQL and Temporal servers (docker-compose.yml has both). The image holds what `npm pack`
# packs, compiled, and the locked packages that a production install needs: no sources, no compiler, no embedded servers.
#
# An exact version; to pin it for good, add the digest that `docker buildx imagetools inspect node:24.21.0-slim` shows:
#   docker build --build-arg NODE_IMAGE=node:24.21.0-slim@sha256:… .
ARG NODE_IMAGE=node:24.21.0-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
# The packages are in a separate layer, because they change less often than the sources.
COPY package.json package-lock.json ./
COPY sandbox/package.json sandbox/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node --disable-warning=ExperimentalWarning scripts/pack.ts

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY sandbox/package.json sandbox/
# The image has Node.js itself, so the package `node` is left out with the other devDependencies. The sandbox is a workspace.
RUN npm ci --omit=dev --omit=optional --workspaces=false --ignore-scripts --no-audit --no-fund

# A sandbox clinic, for trying out: `docker compose --profile sandbox`.
FROM ${NODE_IMAGE} AS sandbox
WORKDIR /app
COPY package.json package-lock.json ./
COPY sandbox sandbox
RUN npm ci --omit=dev --workspace sandbox --ignore-scripts --no-audit --no-fund
ENV NODE_ENV=production
USER node
ENTRYPOINT ["node", "/app/sandbox/bin.js"]

FROM ${NODE_IMAGE}
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/package.json package.json
COPY --from=build /app/bin bin
COPY --from=build /app/dist dist
# Nothing is written outside /tmp: the root file system may be read-only.
ENV NODE_ENV=production VETLEDGER_DATA_DIR=/tmp/vetledger
USER node
# Answers with `metrics: {listen: …:9464}` in the configuration, as deploy/vetledger.yaml has it.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9464/healthz', {signal: AbortSignal.timeout(8000)}).then(({ok}) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Its first line sets Node.js flags.
ENTRYPOINT ["/app/bin/vetledger.js"]
CMD ["run", "--config", "/app/vetledger.yaml"]
