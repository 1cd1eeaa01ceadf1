import { z } from 'zod';
import { signed } from '../../domain/entry.ts';
import { formatMoney } from '../../domain/money.ts';
import { visibleIn } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import { mappingVersionText } from '../../ledger/journal/entry-records.ts';
import { summaryDescription } from '../../ledger/summaries/summary.ts';
import { amount, date, instant } from '../../queries/answer.ts';
import type { ExplainedSummary } from '../../queries/explain-summary.ts';
import { explainTexts as texts } from '../../texts/commands/explain.ts';
import { labels } from '../../texts/commands/labels.ts';
import { deliveryTexts } from '../../wording/explained.ts';
import { carries, timeIn } from '../../wording/words.ts';
import { linesAnswer } from '../render/entry.ts';
import { heads, table } from '../render/text.ts';
import { deliveryAnswer, deliveryOf, mappingAnswer } from './explain-answer.ts';
import { toRight } from './explain-lines.ts';

/** The JSON of a daily summary. */
export const summaryAnswer = z.strictObject({
  summary: z.strictObject({
    id: z.string(),
    installation: z.number(),
    date,
    department: z.number().nullable(),
    correction: z.boolean(),
    vat_period: z.string(),
    late: z.boolean(),
    description: z.string(),
    voucher: z.string(),
    recorded_at: instant,
    window: z.number().nullable(),
    mappings: z.array(mappingAnswer),
    hash: z.string(),
    delivery: deliveryAnswer.nullable(),
    lines: z.array(
      linesAnswer.element.omit({ mapped_by: true, party: true }).extend({
        internal: z.array(z.string().nullable()),
        payment_type: z.number().nullable(),
        vat_number: z.string().nullable(),
        entries: z.array(z.string()),
      }),
    ),
    entries: z.array(
      z.strictObject({
        id: z.string(),
        document: z.string(),
        voucher: z.string().nullable(),
        reason: z.string(),
        description: z.string(),
        amount,
      }),
    ),
  }),
});

export function summaryDocument({ summary, members, deliveries, names, decimals }: ExplainedSummary) {
  const { record, departmentId: department } = summary;
  return {
    summary: {
      ...{ id: summary.id, installation: summary.installation, date: summary.date, department },
      ...{ correction: summary.isCorrection, vat_period: summary.vatPeriod, late: summary.isLate },
      description: summaryDescription(summary),
      ...{ voucher: record.voucher, recorded_at: record.recordedAt, window: record.windowId },
      mappings: record.mappings.map(({ hash, version, approvedBy }) => ({ hash, version, approved_by: approvedBy })),
      hash: summary.hash,
      delivery: deliveryOf(deliveries),
      lines: summary.lines.map((line) => ({
        ...{ account: line.account, name: names.nameOf(line.account, line.role), role: line.role, rule: line.rule },
        amount: formatMoney(signed(line), decimals),
        ...{ department, dimensions: line.dimensions, payment_type: line.paymentType },
        internal: [line.internal.account, line.internal.dimension1, line.internal.dimension2],
        vat: line.vat && {
          group: line.vat.group,
          rate: line.vat.rate?.toFixed() ?? null,
          base: line.vat.base?.toFixed() ?? null,
        },
        ...{ vat_number: line.buyer?.vatNumber ?? null, entries: line.entryIds },
      })),
      entries: members.map(({ entry, document: { kind, id }, amount: of, ...member }) => ({
        ...{ id: entry, document: `${kind} ${id}`, ...member, amount: formatMoney(of, decimals) },
      })),
    },
  };
}

/** The text of a daily summary: its number and delivery, its lines, and its entries with their documents. */
export function summaryText(found: ExplainedSummary): string {
  const { summary, members, deliveries, names, timezone, decimals } = visibleIn(found);
  const { record, vatPeriod: period, isLate } = summary;
  const at = timeIn(timezone);
  const facts = [
    texts.voucher({ voucher: record.voucher }),
    texts.recorded({ at: at(record.recordedAt), window: record.windowId }),
    ...record.mappings.map((mapping) =>
      texts.mapping({ mapping: mappingVersionText(mapping), by: mapping.approvedBy }),
    ),
    texts.vatPeriod({ period, isLate }),
  ];
  const rows = summary.lines.map((line) => {
    const [of, isDebit] = [formatMoney(line.amount, decimals), line.side === 'debit'];
    const { account, role, rule, entryIds } = line;
    const name = names.nameOf(account, role) ?? '';
    const amounts = isDebit ? [of, ''] : ['', of];
    return [
      isDebit ? labels.debit : labels.credit,
      account,
      name,
      role,
      ...amounts,
      rule,
      carries(line, decimals),
      entryIds.length,
    ];
  });
  const entries = members.map(({ entry, voucher, amount: of, description }) => [
    ...[entry, voucher ?? '', formatMoney(of, decimals), description],
  ]);
  return [
    `${shown(summaryDescription(summary))}  ${summary.id}`,
    `  ${facts.join('; ')}`,
    ...deliveryTexts(deliveries, at).map((line) => `    ${line}`),
    '',
    texts.lines,
    table(
      heads('', 'account', 'name', 'role', 'debit', 'credit', 'rule', 'carries', 'entries'),
      toRight([4, 5, 8], rows),
    ),
    '',
    texts.entries,
    table(heads('entry', 'voucher', 'amount', 'document'), toRight([2], entries)),
  ].join('\n');
}
