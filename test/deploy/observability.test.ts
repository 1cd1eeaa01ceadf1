// Alert rules and the dashboard use existing metrics, and each alert names the paragraph that says what to do.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { Metrics, type Readings } from '../../src/runtime/metrics/metrics.ts';

const fileOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const rulesFile = fileOf('deploy/prometheus/alerts.yaml');
const casesFile = fileOf('test/deploy/alerts.test.yaml');
const metricsPage = readFileSync(fileOf('docs/operators/watch.md'), 'utf8');
const alertsPage = readFileSync(fileOf('docs/operators/alerts.md'), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
}

const { groups } = parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

const nothing: Readings = {
  ...{ installations: [], version: '', watched: [], requests: new Map(), figures: null, nowMs: 0 },
  dependencies: { postgres: true, temporal: true },
  pool: { used: 0, free: 0, waiting: 0, limit: 0 },
};

/** All metrics that a daemon serves, from its `# TYPE` lines, with the labels of their declarations. */
let served: Set<string>;

beforeAll(async () => {
  const { text } = await new Metrics(async () => nothing).text();
  served = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name as string));
});

const metricsIn = (expression: string) => expression.match(/\bvetledger_\w+/g) ?? [];

test.each(rules.map((rule) => [rule.alert, rule] as const))(
  '%s is made of metrics that exist, and its paragraph is there',
  (_, rule) => {
    // VetledgerDown uses a metric of Prometheus, which says whether the daemon answered.
    const named = metricsIn(rule.expr);
    expect(named.length > 0 || /\bup\{job="vetledger"\}/.test(rule.expr)).toBe(true);
    expect(named.filter((name) => !served.has(name))).toEqual([]);
    expect(['page', 'ticket']).toContain(rule.labels.severity);
    const [file, anchor] = rule.annotations.runbook_url.split('#');
    expect(file).toBe('docs/operators/alerts.md');
    expect(anchor).toBe(rule.alert.toLowerCase());
    const paragraph = new RegExp(`^#### ${rule.alert}\\n(.+)`, 'm').exec(alertsPage)?.[1] ?? '';
    expect(paragraph.length).toBeGreaterThan(80);
  },
);

test('every paragraph on an alert has its alert', () => {
  const section = /^## Alerts\n([\s\S]*?)^## /m.exec(alertsPage)?.[1] ?? '';
  const told = [...section.matchAll(/^#### (\w+)$/gm)].map(([, name]) => name);
  expect(told.sort()).toEqual(rules.map(({ alert }) => alert).sort());
});

test('the dashboard shows metrics that exist', () => {
  const dashboard = JSON.parse(readFileSync(fileOf('deploy/grafana/vetledger.json'), 'utf8')) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  expect(expressions.length).toBeGreaterThan(10);
  const named = metricsIn(JSON.stringify(dashboard));
  expect(named.filter((name) => !served.has(name))).toEqual([]);
  for (const expression of expressions)
    expect([expression, metricsIn(expression).length > 0]).toEqual([expression, true]);
});

test('the page on watching lists every metric of vetledger', () => {
  const table = /^\| metric \| meaning \|\n([\s\S]*?)\n\n/m.exec(metricsPage)?.[1] ?? '';
  const ours = [...served].filter((name) => !/^vetledger_(nodejs|process)_/.test(name));
  const told = new Set<string>();
  for (const row of table.split('\n')) {
    const names = [...(row.split('|')[1]?.matchAll(/`(\w+)`/g) ?? [])].map(([, name]) => name as string);
    const stem = names[0]?.slice(0, names[0].lastIndexOf('_')) ?? '';
    for (const name of names) told.add(name.startsWith('_') ? `${stem}${name}` : name);
  }
  expect(ours.filter((name) => !told.has(name))).toEqual([]);
});

interface Case {
  alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[];
}

test('each alert has a case that fires it and one that does not', () => {
  const { tests } = parse(readFileSync(casesFile, 'utf8')) as { tests: Case[] };
  const expected = tests.flatMap((each) => each.alert_rule_test);
  const alertsOf = (fires: boolean) =>
    new Set(
      expected.filter(({ exp_alerts: alerts = [] }) => alerts.length > 0 === fires).map((each) => each.alertname),
    );
  const all = new Set(rules.map(({ alert }) => alert));
  expect({ firing: alertsOf(true), quiet: alertsOf(false) }).toEqual({ firing: all, quiet: all });
});
