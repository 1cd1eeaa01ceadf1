# The daemon: schedules and worker, against a PostgreSQL and a Temporal server of your own (docker-compose.yml has both).
FROM node:24-slim
WORKDIR /app

# What changes seldom first. The `node` package pins Node.js for checkouts; here the image does, so it is left out
# with the other devDependencies. Scripts wait until the sources are there.
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force

COPY . .
# Makes the workflows’ bundle beforehand, so that a start is quick and writes nothing.
RUN node scripts/prepare.ts

ENV NODE_ENV=production VETLEDGER_DATA_DIR=/tmp/vetledger
USER node
ENTRYPOINT ["node", "/app/bin/vetledger.js"]
CMD ["run", "--config", "/app/vetledger.yaml"]
