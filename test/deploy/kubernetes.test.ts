import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/load-config.ts';
import { folderOf } from '../cli/support.ts';
import { manifestFaults, textOf } from './schemas.ts';

const files = ['namespace.yaml', 'secret.example.yaml', 'vetledger.yaml', 'backup.yaml'];
// biome-ignore lint/suspicious/noExplicitAny: manifests of several kinds, whose schemas are checked
type Manifest = any;
const manifestsOf = (name: string): Manifest[] =>
  parseAllDocuments(textOf(`deploy/kubernetes/${name}`), { merge: true }).map((document) => document.toJS());
const manifests = files.flatMap(manifestsOf);
const kind = (name: string) => manifests.find((each) => each.kind === name);

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

  test('what selects the pods selects them, and ports have the names that are meant', () => {
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
    const { data } = kind('ConfigMap');
    const { containers, initContainers } = kind('Deployment').spec.template.spec;
    for (const container of [...containers, ...initContainers]) {
      expect(container.envFrom).toEqual([{ secretRef: { name: kind('Secret').metadata.name } }]);
      expect(container.args).toContain('/config/vetledger.yaml');
      const given = Object.fromEntries(container.env.map((each: Manifest) => [each.name, each.value]));
      const file = join(folderOf(data), 'vetledger.yaml');
      const env = { ...kind('Secret').stringData, ...given };
      const config = await loadConfig(file, env);
      const listens = [config.metrics?.listen.port, config.webhooks?.port];
      const daemon = containers[0].ports.map((port: Manifest) => port.containerPort);
      expect(listens.toSorted()).toEqual(daemon.toSorted());
    }
  });
});
