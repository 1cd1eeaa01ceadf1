import { mappingVersionText } from '../../ledger/journal/records.ts';
import { mappingHistory, type UsedMapping } from '../../ledger/mapping-versions.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import type { InstallationId } from '../../terms.ts';
import type { CommandContext } from '../context.ts';
import { instant, table } from '../render/text.ts';
import { withApp } from '../with-app.ts';

interface History {
  installation: InstallationId;
  /** Hash of the configured mapping. */
  configured: string;
  mappings: UsedMapping[];
}

/** Which mappings the entries were posted by, in the order of their first entries. */
export function history(context: CommandContext, options: { installation?: number }): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const installations: History[] = [];
    for (const { id, mappingHash } of chosenInstallations(config, options.installation)) {
      installations.push({ installation: id, configured: mappingHash, mappings: await mappingHistory(db, id) });
    }
    await context.result({ installations }, () => installations.map(historyText).join('\n\n'));
    return 0;
  });
}

function historyText({ installation, configured, mappings }: History): string {
  if (mappings.length === 0) return `Installation ${installation}: nothing is posted.`;
  const rows = mappings.map(({ hash, version, approved_by: by, entries, ...posted }) => [
    hash === null ? 'not recorded' : mappingVersionText({ hash, version }),
    by ?? '',
    entries,
    `${posted.first_seq}-${posted.last_seq}`,
    instant(posted.first_posted_at),
    instant(posted.last_posted_at),
    hash === configured ? 'configured' : '',
  ]);
  const header = ['mapping', 'approved by', 'entries', 'links of the chain', 'first posted', 'last posted', ''];
  return `Installation ${installation}\n${table(header, rows)}`;
}
