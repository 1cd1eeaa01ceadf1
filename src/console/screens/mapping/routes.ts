import { runSpecs } from '../../../bookkeeping/run-specs.ts';
import { storedUsage } from '../../../bookkeeping/stored-usage.ts';
import { loadSpecs } from '../../../config/mapping-files.ts';
import { currentLanguage } from '../../../languages/language.ts';
import { mappingVersions, usedMappings } from '../../../queries/mapping-history.ts';
import { showMapping } from '../../../queries/mapping-shown.ts';
import { screenNames } from '../../../texts/console/console.ts';
import { csvFile } from '../../parts/pages.ts';
import { ago } from '../../parts/times.ts';
import type { Answer, InstallationRequest, Route } from '../../route.ts';
import { searched, targetTables } from './tables.ts';
import { mappingView } from './view.ts';

/** Which account gets what? */
export const mappingRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/:installation/mapping',
    access: { who: 'read_books', in: 'installation' },
    audit: 'nothing',
    answer: show,
  },
];

async function show({ db, installation, query, now, rights }: InstallationRequest): Promise<Answer> {
  const { id, mapping, mappingPath, mappingHash, mappingFile, dialect } = installation;
  const stored = await storedUsage(db, id);
  const shown = await showMapping({ db, practice: null }, installation, now, stored);
  const search = (query.q ?? '').trim().slice(0, 100);
  const tables = () => targetTables(shown).map((each) => searched(each, search));
  if (query.csv !== undefined) {
    const found = tables().find(({ name }) => name === query.csv);
    if (found === undefined) return { missing: true };
    return csvFile(
      `mapping-${found.name}-${id}.csv`,
      found.columns.map(({ title }) => title),
      found.rows.map(({ cells }) => cells),
    );
  }
  const specs = await loadSpecs(mappingPath);
  const content = {
    ...{ installation, search, shown, tables, rights },
    readAgo: () => stored && ago(stored.readAt, now, currentLanguage()),
    isFile: mappingHash === mappingFile.hash,
    cases: specs === null ? [] : runSpecs(specs, mapping, dialect),
    versions: await mappingVersions(db, id),
    used: await usedMappings(db, id),
  };
  return { page: { title: () => screenNames.mapping, body: () => mappingView(content) } };
}
