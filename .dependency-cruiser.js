// The layering of docs/developers/architecture.md as rules: layers.json says which layer may import which. `npm run lint` does.
import { readFileSync } from 'node:fs';

const { layers, apart, packages } = JSON.parse(readFileSync(new URL('./layers.json', import.meta.url), 'utf8'));
const byName = new Map(layers.map((layer) => [layer.name, layer]));

/** Matches a folder, or one file. */
const at = (path) => (path.endsWith('.ts') ? `^${path.replaceAll('.', '\\.')}$` : `^${path}/`);

/** Layers that `name` may import: those it uses, and those that these use in turn. */
function reachable(name, found = new Set()) {
  for (const used of byName.get(name).uses) {
    if (found.has(used)) continue;
    found.add(used);
    reachable(used, found);
  }
  return [...found];
}

const ours = layers.map(({ path }) => at(path));

function layerRules({ name, path, types = [], values = [] }) {
  const allowed = [path, ...reachable(name).map((used) => byName.get(used).path)].map(at);
  const asTypes = types.map((used) => at(byName.get(used).path));
  return [
    {
      name: `${name}-imports-a-later-layer`,
      severity: 'error',
      from: { path: at(path) },
      to: { path: ours, pathNot: [...allowed, ...asTypes, ...values.map(at)] },
    },
    ...(asTypes.length === 0
      ? []
      : [
          {
            name: `${name}-imports-more-than-types`,
            severity: 'error',
            from: { path: at(path) },
            to: { path: asTypes, pathNot: values.map(at), dependencyTypesNot: ['type-only'] },
          },
        ]),
  ];
}

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...layers.flatMap(layerRules),
    {
      name: 'pure-layers-do-no-io',
      comment: 'Files, network, processes and timers come in from outside.',
      severity: 'error',
      from: { path: layers.filter(({ pure }) => pure).map(({ path }) => at(path)) },
      to: { path: '^(node:)?(fs|net|http|https|dns|tls|child_process|worker_threads|timers|process|os)(/|$)' },
    },
    ...packages.map(({ name, modules, allowedIn }) => ({
      name: `${name}-packages-stay-in-their-layers`,
      severity: 'error',
      from: { path: ours, pathNot: allowedIn.map((layer) => at(byName.get(layer).path)) },
      to: { path: modules.map((module) => `node_modules/${module}/`) },
    })),
    {
      name: 'the-sandbox-is-apart',
      comment: 'A program of its own: it knows nothing of the product, and only dev and sandbox start it.',
      severity: 'error',
      from: { path: ours, pathNot: apart.importedBy.map(at) },
      to: { path: at(apart.path) },
    },
    { name: 'the-sandbox-imports-the-product', severity: 'error', from: { path: at(apart.path) }, to: { path: ours } },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.js'], conditionNames: ['import', 'node', 'default'] },
  },
};
