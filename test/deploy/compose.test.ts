import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load-config.ts';
import { folderOf } from '../cli/support.ts';
import { composeFaults, textOf } from './schemas.ts';

interface Service {
  image?: string;
  build?: string;
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string | number>;
  volumes?: string[];
  ports?: string[];
  networks?: string[];
  network_mode?: string;
  restart?: string;
  read_only?: boolean;
  tmpfs?: string[];
  cap_drop?: string[];
  security_opt?: string[];
  logging?: { options: Record<string, string> };
  deploy?: { resources: { limits: Record<string, unknown> } };
  stop_grace_period?: string;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const text = textOf('docker-compose.yml');
const compose = parse(text, { merge: true }) as {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
};
const services = Object.entries(compose.services);
const { temporal, vetledger, migrate } = compose.services as Record<string, Service>;

/** A value for every required variable. */
const environment = Object.fromEntries(
  [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => [name, `${name.toLowerCase()}1`]),
);
const filled = (value: string | number) =>
  String(value).replaceAll(/\$\{(\w+)(?::[?-][^}]*)?\}/g, (_, name: string) => environment[name] ?? '');

describe('docker-compose.yml', () => {
  test('is a compose file by the specification; a wrong key in it is noticed', () => {
    expect(composeFaults(compose)).toEqual([]);
    const wrong = { ...compose, services: { ...compose.services, vetledger: { ...vetledger, restrat: 'always' } } };
    expect(composeFaults(wrong).join()).toContain('restrat');
  });

  const hasClient = spawnSync('docker', ['compose', 'version']).status === 0;
  test.runIf(hasClient)('is read by `docker compose config`', () => {
    const { HOME, PATH, DOCKER_CONFIG } = process.env;
    const args = ['compose', '--profile', '*', 'config', '--quiet'];
    const { status, stderr } = spawnSync('docker', args, {
      cwd: root,
      env: { HOME, PATH, DOCKER_CONFIG, ...environment },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test.each(services)('%s: an exact image, limits, a small attack surface, a bounded log', (name, service) => {
    if (service.build === undefined) expect(service.image).toMatch(/^[\w./-]+:v?\d+(\.\d+)+(@sha256:[0-9a-f]{64})?$/);
    expect(service.image ?? '').not.toMatch(/auto-setup|:latest/);
    expect(service.restart).toMatch(
      ['backup', 'restore'].includes(name) ? /^no$/ : /^(unless-stopped|on-failure:\d+)$/,
    );
    expect(service.deploy?.resources.limits).toEqual({
      cpus: expect.any(String),
      memory: expect.stringMatching(/^\d+[mg]$/),
      pids: expect.any(Number),
    });
    expect(service.logging?.options).toEqual({ 'max-size': expect.any(String), 'max-file': expect.any(String) });
    expect(service.security_opt).toContain('no-new-privileges:true');
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.tmpfs).toContain('/tmp');
    // The UI's image writes its configuration at the start, so its file system is writable.
    expect(service.read_only).toBe(name !== 'temporal-ui');
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    expect(service.network_mode ?? service.networks).toBeDefined();
  });

  test('databases and Temporal are on a network without a way in or out', () => {
    expect(compose.networks.backend).toEqual({ internal: true });
    for (const name of ['postgres', 'temporal', 'backup', 'restore', 'migrate']) {
      expect(compose.services[name]?.networks).toEqual(['backend']);
      expect(compose.services[name]?.ports).toBeUndefined();
    }
  });

  test('the number of history shards, which is permanent, is not the default of the image', () => {
    expect(temporal?.environment?.NUM_HISTORY_SHARDS).toBe(512);
  });

  test('vetledger, its migrations, its backup and Temporal sign in as roles of their own; the daemon is not given the owner', () => {
    const userOf = (url: string | number | undefined) => new URL(filled(url ?? '')).username;
    expect(userOf(vetledger?.environment?.DATABASE_URL)).toBe('vetledger');
    expect(vetledger?.environment?.MIGRATE_DATABASE_URL).toBe('');
    expect(userOf(migrate?.environment?.MIGRATE_DATABASE_URL)).toBe('vetledger_owner');
    expect(temporal?.environment?.POSTGRES_USER).toBe('temporal');
    expect(userOf(compose.services.backup?.environment?.DATABASE_URL)).toBe('vetledger_backup');
    expect(userOf(compose.services.console?.environment?.CONSOLE_DATABASE_URL)).toBe('vetledger_console');
    expect(Object.keys(compose.services.console?.environment ?? {})).not.toContain('PRACTICE_TOKEN');
    expect(userOf(compose.services.restore?.environment?.DATABASE_URL)).toBe('vetledger_owner');
  });

  test('the configuration that it mounts is one, with what the containers are given', async () => {
    const folder = folderOf({
      'vetledger.yaml': textOf('deploy/vetledger.yaml'),
      'mappings/demo.yaml': textOf('mappings/demo.yaml'),
    });
    for (const service of [vetledger, migrate]) {
      const given = Object.entries(service?.environment ?? {}).map(([name, value]) => [name, filled(value)]);
      const env = { ...Object.fromEntries(given), PRACTICE_URL: 'http://127.0.0.1:8090' };
      const config = await loadConfig(join(folder, 'vetledger.yaml'), env);
      expect(config.installations).toHaveLength(1);
    }
  });

  test('the schema job prepares both databases, again at each start, and fails where an update fails', () => {
    const job = compose.services['temporal-schema'] as Required<Service>;
    const runJob = (failing: string) => {
      const folder = folderOf({
        'temporal-sql-tool': `#!/bin/sh\necho "$*" >> "$LOG"\ncase "$*" in *${failing}*) exit 1;; esac\n`,
      });
      chmodSync(join(folder, 'temporal-sql-tool'), 0o755);
      const log = join(folder, 'log');
      writeFileSync(log, '');
      const [shell = '', ...flags] = job.entrypoint;
      const script = job.command.map((line) => line.replaceAll('$$', '$'));
      const { status } = spawnSync(shell, [...flags, ...script], {
        env: { PATH: `${folder}:${process.env.PATH}`, LOG: log },
      });
      return { status, calls: readFileSync(log, 'utf8').trim().split('\n') };
    };
    const as = '--plugin postgres12 --ep postgres -p 5432 -u temporal';
    const versioned = '/etc/temporal/schema/postgresql/v12';
    const calls = [
      `${as} --db temporal setup-schema -v 0.0`,
      `${as} --db temporal update-schema -d ${versioned}/temporal/versioned`,
      `${as} --db temporal_visibility setup-schema -v 0.0`,
      `${as} --db temporal_visibility update-schema -d ${versioned}/visibility/versioned`,
    ];
    expect(runJob('nothing')).toEqual({ status: 0, calls });
    expect(runJob('setup-schema')).toEqual({ status: 0, calls });
    expect(runJob('update-schema').status).toBe(1);
  });

  test('the namespace is made where it is missing, and left alone where it is there', () => {
    const job = compose.services['temporal-namespace'] as Required<Service>;
    const runJob = (found: boolean) => {
      const folder = folderOf({
        temporal: `#!/bin/sh\necho "$*"\ncase "$*" in *describe*) exit ${found ? 0 : 1};; esac\n`,
      });
      chmodSync(join(folder, 'temporal'), 0o755);
      const [shell = '', ...flags] = job.entrypoint;
      const env = { PATH: `${folder}:${process.env.PATH}` };
      return spawnSync(shell, [...flags, ...job.command], { env, encoding: 'utf8' })
        .stdout.trim()
        .split('\n');
    };
    expect(runJob(true)).toEqual(['operator namespace describe -n default']);
    expect(runJob(false)).toEqual([
      'operator namespace describe -n default',
      'operator namespace create -n default --retention 168h',
    ]);
  });
});

describe('Dockerfile', () => {
  const dockerfile = textOf('Dockerfile');
  const { scripts, devDependencies } = JSON.parse(textOf('package.json')) as Record<string, Record<string, string>>;

  test('runs on the Node.js that is developed with, as an unprivileged user', () => {
    expect(/^ARG NODE_IMAGE=node:(\S+)-slim$/m.exec(dockerfile)?.[1]).toBe(devDependencies?.node);
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM'));
    expect(last).toMatch(/^USER node$/m);
    expect(last).not.toMatch(/^RUN/m);
  });

  test('compiles as `npm pack` does', () => {
    expect(dockerfile).toContain(`RUN ${scripts?.prepack}\n`);
  });
});
