import { formatMoney } from '../../../domain/money.ts';
import { visibleIn } from '../../../domain/text.ts';
import { shown } from '../../../languages/language.ts';
import { mappingVersionText } from '../../../ledger/journal/entry-records.ts';
import { summaryDescription } from '../../../ledger/summaries/summary.ts';
import type { ExplainedSummary } from '../../../queries/explain-summary.ts';
import { explainTexts } from '../../../texts/commands/explain.ts';
import { columnTitles as heads } from '../../../texts/reports/columns.ts';
import { deliveryTexts } from '../../../wording/explained.ts';
import { timeIn } from '../../../wording/words.ts';
import { html } from '../../html.ts';
import { lines } from '../../parts/facts.ts';
import { table } from '../../parts/table.ts';
import type { PageContent } from '../../route.ts';
import { lineTable } from './line-table.ts';
import { entryPath } from './links.ts';

/** The page of a daily summary: its number and delivery, its lines, and its entries. */
export function summaryPage(found: ExplainedSummary): PageContent {
  const { summary, members, deliveries, names, timezone, decimals } = visibleIn(found);
  const { record, vatPeriod: period, isLate } = summary;
  const at = timeIn(timezone);
  return {
    title: () => shown(summaryDescription(summary)),
    body: () =>
      html`${lines([
        summary.id,
        explainTexts.voucher({ voucher: record.voucher }),
        explainTexts.recorded({ at: at(record.recordedAt), window: record.windowId }),
        ...record.mappings.map((mapping) =>
          explainTexts.mapping({ mapping: mappingVersionText(mapping), by: mapping.approvedBy }),
        ),
        explainTexts.vatPeriod({ period, isLate }),
        ...deliveryTexts(deliveries, at),
      ])}
        <section>
          <h2>${explainTexts.lines}</h2>
          ${lineTable(
            summary.lines.map((line) => ({
              ...{ line, name: names.nameOf(line.account, line.role), entries: line.entryIds.length },
            })),
            decimals,
          )}
        </section>
        <section>
          <h2>${explainTexts.entries}</h2>
          ${table({
            columns: [
              ...[{ title: heads.entry }, { title: heads.voucher }],
              ...[{ title: heads.amount, isNumber: true }, { title: heads.document }],
            ],
            rows: members.map(({ entry, voucher, amount, description }) => [
              html`<a href=${entryPath(entry)}>${entry}</a>`,
              ...[voucher ?? '', formatMoney(amount, decimals), description],
            ]),
          })}
        </section>`,
  };
}
