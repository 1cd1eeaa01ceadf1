import { changedSettings, namesKnownChart, type Previewed, withProposal } from '../../../bookkeeping/asked-mapping.ts';
import { contentOf } from '../../../bookkeeping/mapping-versions.ts';
import { runSpecs } from '../../../bookkeeping/run-specs.ts';
import { loadSpecs } from '../../../config/mapping-files.ts';
import { formatMoney, Money } from '../../../domain/money.ts';
import { visible } from '../../../domain/text.ts';
import { shown } from '../../../languages/language.ts';
import { readAccountNames } from '../../../reports/account-names.ts';
import { mappingFormTexts as texts } from '../../../texts/console/mapping.ts';
import { columnTitles as heads } from '../../../texts/reports/columns.ts';
import { html, type Node } from '../../html.ts';
import { facts } from '../../parts/facts.ts';
import { table } from '../../parts/table.ts';
import type { InstallationRequest } from '../../route.ts';

/** The changed settings of a proposal, and what the mapping would change in the books. */
export async function previewPart(
  { db, installation }: InstallationRequest,
  { preview, content, base }: Previewed,
): Promise<() => Node> {
  const names = await readAccountNames(db, installation);
  const older = content === null ? null : await contentOf(db, installation.id, base);
  const changes = content === null || older === null ? null : changedSettings(older, content);
  const failing = content === null ? [] : await failingCases(installation, content);
  const { counts, moves, kept } = preview;
  const { currency, decimals } = installation;
  const movesOf = (closed: boolean) => {
    const found = moves.filter((move) => move.closed === closed);
    if (found.length === 0) return null;
    return table({
      caption: closed ? texts.closed({ currency }) : texts.open({ currency }),
      columns: [
        ...[heads.month, heads.account, heads.name].map((title) => ({ title })),
        { title: heads.change, isNumber: true },
      ],
      rows: found.map(({ month, account, change }) => [
        ...[month, account, names.nameOf(account, null) ?? '', formatMoney(new Money(change), decimals)],
      ]),
    });
  };
  return () => html`${
    changes === null
      ? null
      : table({
          caption: texts.settings,
          columns: [{ title: texts.setting }, { title: texts.old }, { title: texts.now }],
          rows: changes.map(({ setting, old, now }) =>
            [setting, old ?? texts.absent, now ?? texts.absent].map(visible),
          ),
        })
  }
  ${facts([
    [texts.corrected, counts.corrected],
    [texts.changeHeld, counts.change_held],
    [texts.same, counts.same],
    [texts.left, counts.left === 0 ? null : counts.left],
    [texts.held, counts.held === 0 ? null : counts.held],
  ])}
  ${movesOf(false)} ${movesOf(true)}
  ${
    kept.length === 0
      ? null
      : table({
          caption: texts.kept,
          columns: [{ title: texts.cause }, { title: texts.documents, isNumber: true }],
          rows: kept.map(({ cause, documents }) => [visible(shown(cause)), documents]),
        })
  }
  ${
    failing.length === 0
      ? null
      : table({
          caption: texts.failing,
          columns: [{ title: texts.case }, { title: texts.differences }],
          rows: failing.map(({ name, differences }) => [
            name,
            differences.map((line) => html`<div class="needed">${line}</div>`),
          ]),
        })
  }`;
}

/** The cases of the mapping that a proposal does not meet. */
async function failingCases(installation: InstallationRequest['installation'], content: string) {
  const { mapping } = withProposal(installation, content);
  const specs = namesKnownChart(mapping, installation) ? await loadSpecs(installation.mappingPath) : null;
  return specs === null ? [] : runSpecs(specs, mapping, installation.dialect).filter(({ ok }) => !ok);
}
