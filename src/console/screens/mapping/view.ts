import { basename } from 'node:path';
import type { CaseResult } from '../../../bookkeeping/run-specs.ts';
import type { InstallationConfig } from '../../../config/load-config.ts';
import { formatExact, Money, zero } from '../../../domain/money.ts';
import { shown as inLanguage } from '../../../languages/language.ts';
import { mappingVersionText } from '../../../ledger/journal/entry-records.ts';
import type { MappingVersionInForce, UsedMapping } from '../../../queries/mapping-history.ts';
import type { ShownMapping } from '../../../queries/mapping-shown.ts';
import { labels } from '../../../texts/commands/labels.ts';
import { mappingShowTexts, mappingTexts } from '../../../texts/commands/mapping.ts';
import { consoleTexts } from '../../../texts/console/console.ts';
import { mappingFormTexts, mappingScreen as texts } from '../../../texts/console/mapping.ts';
import { columnTitles as titles } from '../../../texts/reports/columns.ts';
import { timeIn } from '../../../wording/words.ts';
import { type Content, html, local, type Node } from '../../html.ts';
import { field } from '../../parts/fields.ts';
import { table } from '../../parts/table.ts';
import { permittedActions } from '../../users/permitted-actions.ts';
import type { Rights } from '../../users/rights.ts';
import { mappingForms } from '../actions/mappings.ts';
import { proposalPath } from '../actions/propose-mapping.ts';
import type { TargetTable } from './tables.ts';

interface Shown {
  installation: InstallationConfig;
  search: string;
  shown: ShownMapping;
  rights: Rights;
  tables(): TargetTable[];
  /** When the records were read. Null if they were read for this page. */
  readAgo(): string | null;
  isFile: boolean;
  cases: readonly CaseResult[];
  versions: readonly MappingVersionInForce[];
  used: readonly UsedMapping[];
}

export function mappingView(of: Shown): Node {
  const { shown, search, isFile } = of;
  const readAgo = of.readAgo();
  const path = `/${shown.installation}/mapping`;
  // The folders of the server are no matter of the readers.
  const mapping = isFile ? basename(shown.mapping) : shown.mapping;
  return html`<p>${texts.inForce({ mapping, since: shown.since })} ${readAgo && texts.readAt({ at: readAgo })}</p>
    ${isFile ? null : html`<p>${texts.fileDiffers}</p>`} ${actionLinks(of)} ${warningsView(shown.warnings)}
    <form method="get" class="filters">
      ${field({ name: 'q', label: consoleTexts.search, type: 'search', value: search })}
      <button>${consoleTexts.filter}</button>
    </form>
    ${of.tables().map((each) => targetsView(each, path, search))} ${casesView(of.cases)} ${historyView(of)} ${usedView(of)}`;
}

function actionLinks({ rights, installation: { id } }: Shown): Node {
  return html`<p class="pages">
    ${rights.may(permittedActions.propose_mapping, id) ? html`<a href=${proposalPath(id)}>${mappingFormTexts.titles.propose_mapping}</a>` : null}
    ${mappingForms.preview_repost.link(rights, id)}
  </p>`;
}

function warningsView(warnings: readonly string[]): Node {
  if (warnings.length === 0) return html`<p>${mappingShowTexts.noWarnings}</p>`;
  return html`<ul>
    ${warnings.map((warning) => html`<li class="needed">${inLanguage(warning)}</li>`)}
  </ul>`;
}

function targetsView({ name, title, columns, rows, accountAt }: TargetTable, path: string, search: string): Node {
  const account = (text: Content, number: string | null) =>
    number === null
      ? html`<span class=${text === mappingShowTexts.none ? 'needed' : undefined}>${text}</span>`
      : html`<a href=${local(path.replace(/mapping$/, 'reports/account'), { account: number })}>${text}</a>`;
  return html`<section>
    <h2>${title}</h2>
    ${table({
      columns,
      rows: rows.map((row) => row.cells.map((cell, at) => (at === accountAt ? account(cell, row.account) : cell))),
      ...(name === 'roles' ? {} : { total: totalOf(columns, rows) }),
    })}
    <p class="pages"><a href=${local(path, { q: search, csv: name })}>${consoleTexts.csv}</a></p>
  </section>`;
}

/** The sums of the columns with numbers. Counts are whole numbers, amounts have all their decimals. */
function totalOf(columns: TargetTable['columns'], rows: TargetTable['rows']): Content[] {
  return columns.map(({ isNumber }, at) => {
    if (!isNumber) return at === 0 ? consoleTexts.total : '';
    const cells = rows.map(({ cells }) => cells[at] ?? 0);
    const sum = cells.reduce((all: Money, cell) => all.plus(new Money(cell)), zero);
    return cells.every((cell) => typeof cell === 'number') ? sum.toFixed() : formatExact(sum, 2);
  });
}

function casesView(cases: readonly CaseResult[]): Node {
  return html`<section>
    <h2>${texts.cases}</h2>
    ${table({
      columns: [{ title: texts.case }, { title: texts.result }],
      rows: cases.map(({ name, ok, differences }) => [
        name,
        ok ? texts.passes : differences.map((line) => html`<div class="needed">${line}</div>`),
      ]),
      empty: texts.noCases,
    })}
  </section>`;
}

function historyView({ versions, installation }: Shown): Node {
  const at = timeIn(installation.timezone);
  const last = versions.at(-1)?.number;
  return html`<section>
    <h2>${texts.history}</h2>
    ${table({
      columns: [
        titles.number,
        titles.version,
        texts.approvedBy,
        texts.since,
        titles.by,
        texts.proposedBy,
        titles.reason,
        titles.remarks,
      ].map((title) => ({ title })),
      rows: versions
        .toReversed()
        .map(({ number, hash, version, approved_by, since, applied_by, proposed_by, reason }) => [
          ...[number, mappingVersionText({ hash, version }), approved_by, at(since)],
          ...[applied_by ?? mappingTexts.byFile, proposed_by, reason],
          [
            ...(number === last ? [labels.inForce] : []),
            ...(hash === installation.mappingFile.hash ? [labels.configured] : []),
          ].join(', '),
        ]),
    })}
  </section>`;
}

function usedView({ used, installation }: Shown): Node {
  const at = timeIn(installation.timezone);
  return html`<section>
    <h2>${texts.used}</h2>
    ${table({
      columns: [
        ...[titles.version, texts.approvedBy].map((title) => ({ title })),
        { title: titles.entries, isNumber: true },
        ...[texts.links, texts.firstPosted, texts.lastPosted].map((title) => ({ title })),
      ],
      rows: used.map(({ hash, version, approved_by, entries, ...posted }) => [
        hash === null ? labels.notRecorded : mappingVersionText({ hash, version }),
        ...[approved_by, entries, `${posted.first_seq}-${posted.last_seq}`],
        ...[at(posted.first_posted_at), at(posted.last_posted_at)],
      ]),
      empty: mappingTexts.noneUsed,
    })}
  </section>`;
}
