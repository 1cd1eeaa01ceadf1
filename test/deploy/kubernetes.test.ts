import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, cpSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/load-config.ts';
import { folderOf } from '../cli/support.ts';
import { manifestFaults, textOf } from './schemas.ts';

const kubernetes = fileURLToPath(new URL('../../deploy/kubernetes', import.meta.url));
/** The nightly backup is applied separately, because it needs a volume claim. */
const applied = ['namespace.yaml', 'vetledger.yaml', 'console.yaml'];
const files = [...applied, 'backup.yaml'];
// biome-ignore lint/suspicious/noExplicitAny: manifests of several kinds, whose schemas are checked
type Manifest = any;
const manifestsOf = (name: string): Manifest[] =>
  parseAllDocuments(textOf(`deploy/kubernetes/${name}`), { merge: true }).map((document) => document.toJS());
const manifests = files.flatMap(manifestsOf);
const kind = (name: string) => manifests.find((each) => each.kind === name);
const kustomization: Manifest = manifestsOf('kustomization.yaml')[0];
const [configMap] = kustomization.configMapGenerator;
const [secret, consoleSecret] = kustomization.secretGenerator;
const exampleSecrets = Object.fromEntries(
  textOf('deploy/kubernetes/vetledger.example.env')
    .trimEnd()
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
);
/** The configuration files by their mounted names. */
const configuration: Record<string, string> = Object.fromEntries(
  configMap.files.map((path: string) => [basename(path), textOf(`deploy/kubernetes/${path}`)]),
);
const isInstalled = spawnSync('kubectl', ['version', '--client']).status === 0;

/**
 * The manifests that `kubectl apply --kustomize` would apply, with a changed text of the configuration or of the
 * secrets.
 */
function rendered(change: { configuration?: string; secrets?: string } = {}): Manifest[] {
  const folder = folderOf({});
  cpSync(kubernetes, folder, { recursive: true });
  for (const name of ['vetledger', 'console'])
    copyFileSync(join(folder, `${name}.example.env`), join(folder, `${name}.env`));
  if (change.configuration) appendFileSync(join(folder, 'config/vetledger.yaml'), change.configuration);
  if (change.secrets) appendFileSync(join(folder, 'vetledger.env'), change.secrets);
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8', timeout: 60_000 });
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout).map((document) => document.toJS());
}

describe('Kubernetes manifests', () => {
  test.each(manifests.map((each) => [`${each.kind} ${each.metadata.name}`, each]))(
    '%s is as its schema says',
    (_, manifest) => {
      expect(manifestFaults(manifest)).toEqual([]);
      expect(manifest.metadata.namespace ?? manifest.metadata.name).toBe('vetledger');
    },
  );

  test('a wrong field is noticed', () => {
    const deployment = structuredClone(kind('Deployment'));
    deployment.spec.template.spec.containers[0].livenessProb = {};
    expect(manifestFaults(deployment).join()).toContain('livenessProb');
    const budget = structuredClone(kind('PodDisruptionBudget'));
    budget.spec.selector = 'vetledger';
    expect(manifestFaults(budget)).not.toEqual([]);
  });

  test('what selects the pods selects them, and ports have the right names', () => {
    const { template, selector } = kind('Deployment').spec;
    const { labels } = template.metadata;
    const selectors = [
      selector.matchLabels,
      kind('Service').spec.selector,
      kind('PodDisruptionBudget').spec.selector.matchLabels,
    ];
    for (const each of [...selectors, kind('NetworkPolicy').spec.podSelector.matchLabels]) expect(each).toEqual(labels);
    const [daemon] = template.spec.containers;
    const ports = new Map<string, number>(daemon.ports.map((port: Manifest) => [port.name, port.containerPort]));
    for (const { targetPort } of kind('Service').spec.ports) expect(ports.has(targetPort)).toBe(true);
    expect(daemon.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'metrics' });
    expect(daemon.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'metrics' });
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(30);
  });

  test('secrets come by reference, and what is mounted is a configuration', async () => {
    const { volumes } = kind('Deployment').spec.template.spec;
    expect(volumes).toContainEqual({ name: 'config', configMap: { name: configMap.name } });
    const { containers, initContainers } = kind('Deployment').spec.template.spec;
    for (const container of [...containers, ...initContainers]) {
      expect(container.envFrom).toEqual([{ secretRef: { name: secret.name } }]);
      expect(container.args).toContain('/config/vetledger.yaml');
      const given = Object.fromEntries(container.env.map((each: Manifest) => [each.name, each.value]));
      const file = join(folderOf(configuration), 'vetledger.yaml');
      const env = { ...exampleSecrets, ...given };
      const config = await loadConfig(file, env);
      const listens = [config.metrics?.listen.port, config.webhooks?.port];
      const daemon = containers[0].ports.map((port: Manifest) => port.containerPort);
      expect(listens.toSorted()).toEqual(daemon.toSorted());
    }
  });

  test('the console gets the URL of its role only', async () => {
    const site = manifests.find(
      ({ kind: of, metadata }) => of === 'Deployment' && metadata.name === 'vetledger-console',
    );
    const [container] = site.spec.template.spec.containers;
    expect(container.envFrom).toEqual([{ secretRef: { name: consoleSecret.name } }]);
    const file = join(folderOf(configuration), 'vetledger.yaml');
    const { console: configured } = await loadConfig(
      file,
      { CONSOLE_DATABASE_URL: exampleSecrets.CONSOLE_DATABASE_URL },
      { secrets: false },
    );
    expect(configured?.port).toBe(container.ports[0].containerPort);
    expect(new URL(configured?.databaseUrl ?? '').username).toBe('vetledger_console');
  });

  test('the kustomization has all files, and its names are those that the Deployment refers to', () => {
    expect(kustomization.resources).toEqual(applied);
    expect(Object.keys(configuration)).toEqual(['vetledger.yaml', 'mapping.yaml']);
    expect([configMap.name, secret.name, kustomization.namespace]).toEqual(['vetledger', 'vetledger', 'vetledger']);
    expect(secret.envs).toEqual(['vetledger.env']);
  });

  test.skipIf(!isInstalled)('a changed configuration or secret rolls the Deployment out, and nothing else does', () => {
    const deployment = (each: Manifest[]) => JSON.stringify(each.find((one) => one.kind === 'Deployment'));
    const first = rendered();
    for (const manifest of first) expect(manifestFaults(manifest)).toEqual([]);
    expect(deployment(rendered())).toBe(deployment(first));
    for (const change of [{ configuration: 'window_timeout_minutes: 20\n' }, { secrets: 'ANOTHER=1\n' }])
      expect(deployment(rendered(change))).not.toBe(deployment(first));
  });
});
