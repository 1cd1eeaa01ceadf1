import { resolve } from 'node:path';
import { previewPosting, previewRemap } from '../../bookkeeping/preview.ts';
import type { InstallationConfig } from '../../config/load.ts';
import { loadMapping } from '../../config/mapping-files.ts';
import { countWaiting } from '../../documents/count.ts';
import { countInForce, everything } from '../../documents/in-force.ts';
import { type App, chosenInstallations } from '../../runtime/app.ts';
import type { CommandContext } from '../context.ts';
import { withProgress } from '../progress.ts';
import { membersOf, Pieces } from '../render/pieces.ts';
import { PostingSummary, postingItems } from '../render/preview.ts';
import { changeItems, RemapSummary } from '../render/remap.ts';
import { withApp } from '../with-app.ts';

/** What the next window would post, and with another mapping what that one would change; writes nothing. */
export function preview(
  context: CommandContext,
  options: { installation?: number; mapping?: string },
): Promise<number> {
  return withApp(context, { temporal: false, endsItself: true }, async (app) => {
    const other = options.mapping === undefined ? null : resolve(options.mapping);
    const replaced = other === null ? {} : { mappingPath: other, ...(await loadMapping(other)) };
    const pieces = new Pieces(context);
    pieces.json('{"installations":[');
    for (const [index, configured] of chosenInstallations(app.config, options.installation).entries()) {
      if (index > 0) pieces.json(',');
      await previewOne(context, app, { ...configured, ...replaced }, other !== null, pieces);
    }
    pieces.json(']}');
    await pieces.end();
    return 0;
  });
}

async function previewOne(
  context: CommandContext,
  app: App,
  installation: InstallationConfig,
  isOther: boolean,
  pieces: Pieces,
): Promise<void> {
  const { id, mappingPath, decimals } = installation;
  const practice = app.practice(id);
  pieces.json(`{"installation":${id},"mapping":${JSON.stringify(mappingPath)},"documents":`);
  pieces.text(`Installation ${id}, mapping ${mappingPath}\nWhat the next window would post of what is here now:`);
  const summary = new PostingSummary(decimals);
  const waiting = withProgress(context, 'judging', null, previewPosting(app.db, installation, practice));
  await pieces.list(postingItems(waiting, id, decimals, summary));
  const { held } = await countWaiting(app.db, id);
  pieces.json(`,${membersOf(summary.document(held))}`);
  pieces.text(summary.text(held));
  if (isOther) {
    pieces.json(',"changes":{"documents":');
    pieces.text(
      'What this mapping would change of what is in the books (`vetledger repost` posts it once it is configured):',
    );
    const changes = new RemapSummary(decimals, 'preview');
    const total = await countInForce(app.db, id, everything);
    const remapped = previewRemap(app.db, installation, practice, everything);
    await pieces.list(changeItems(withProgress(context, 'comparing', total, remapped), id, decimals, changes));
    pieces.json(`,${membersOf(changes.document())}}`);
    pieces.text(changes.text());
  }
  pieces.json('}');
}
