# The daemon: schedules and worker, against a PostgreSQL and a Temporal server of your own (docker-compose.yml has both).
# The optional packages are those of the embedded servers, which the daemon does not start.
# An exact version; add the digest that your registry shows to pin it for good.
FROM node:24.21.0-slim
WORKDIR /app

# The packages have a layer of their own, because they change less often than the sources. The image pins Node.js, so the `node`
# package is left out with the other devDependencies. The prepare script needs the sources and runs below.
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund && npm cache clean --force

COPY . .
# Builds the workflow bundle, so that a start takes no time for it and writes nothing into /app.
RUN node --disable-warning=ExperimentalWarning scripts/prepare.ts

ENV NODE_ENV=production VETLEDGER_DATA_DIR=/tmp/vetledger
USER node
ENTRYPOINT ["node", "/app/bin/vetledger.js"]
CMD ["run", "--config", "/app/vetledger.yaml"]
