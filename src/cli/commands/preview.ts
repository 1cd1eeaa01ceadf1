import { resolve } from 'node:path';
import { previewPosting, previewRemap } from '../../bookkeeping/preview.ts';
import type { InstallationConfig } from '../../config/load.ts';
import { loadMapping } from '../../config/mapping-files.ts';
import { countWaiting } from '../../documents/count.ts';
import { countInForce, everything } from '../../documents/in-force.ts';
import type { App } from '../../runtime/app.ts';
import { chosenBooks } from '../books.ts';
import type { CommandContext } from '../context.ts';
import { withProgress } from '../progress.ts';
import { PostingSummary, postingItems } from '../render/preview.ts';
import { changeItems, RemapSummary } from '../render/remap.ts';
import { membersOf, StreamedResult } from '../render/streamed-result.ts';
import { withApp } from '../with-app.ts';

/** Prints what the next window would post and, with --mapping, what that mapping would change in the books; writes nothing. */
export function preview(
  context: CommandContext,
  options: { installation?: number; mapping?: string },
): Promise<number> {
  return withApp(context, { temporal: false, handlesSignal: true }, async (app) => {
    const other = options.mapping === undefined ? null : resolve(options.mapping);
    const replaced = other === null ? {} : { mappingPath: other, ...(await loadMapping(other)) };
    const result = new StreamedResult(context);
    result.json('{"installations":[');
    for (const [index, configured] of (await chosenBooks(app, options.installation)).entries()) {
      if (index > 0) result.json(',');
      await previewOne(context, app, { ...configured, ...replaced }, other !== null, result);
    }
    result.json(']}');
    await result.end();
    return 0;
  });
}

async function previewOne(
  context: CommandContext,
  app: App,
  installation: InstallationConfig,
  isOther: boolean,
  result: StreamedResult,
): Promise<void> {
  const { id, mappingPath, decimals } = installation;
  const practice = app.practice(id);
  result.json(`{"installation":${id},"mapping":${JSON.stringify(mappingPath)},"documents":`);
  result.text(`Installation ${id}, mapping ${mappingPath}\nWhat the next window would post of what is here now:`);
  const summary = new PostingSummary(decimals);
  const waiting = withProgress(context, 'judging', null, previewPosting(app.db, installation, practice, app.clock));
  await result.list(postingItems(waiting, id, decimals, summary));
  const { held } = await countWaiting(app.db, id);
  result.json(`,${membersOf(summary.document(held))}`);
  result.text(summary.text(held));
  if (isOther) {
    result.json(',"changes":{"documents":');
    result.text(
      'What this mapping would change of what is in the books (`vetledger repost` posts it once it is configured):',
    );
    const changes = new RemapSummary(decimals, 'preview');
    const total = await countInForce(app.db, id, everything);
    const remapped = previewRemap(app.db, installation, practice, everything);
    await result.list(changeItems(withProgress(context, 'comparing', total, remapped), id, decimals, changes));
    result.json(`,${membersOf(changes.document())}}`);
    result.text(changes.text());
  }
  result.json('}');
}
