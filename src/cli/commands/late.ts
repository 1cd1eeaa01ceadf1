import { z } from 'zod';
import { decisionsFor, optionOf } from '../../bookkeeping/decide-late.ts';
import { decisionsOf } from '../../bookkeeping/late-decision-store.ts';
import { isDelivered } from '../../config/erp.ts';
import { type LateDocument, lateDocuments } from '../../documents/late-documents.ts';
import { dateIn, daysBetween } from '../../domain/dates.ts';
import { formatExact, Money } from '../../domain/money.ts';
import { visibleIn } from '../../domain/text.ts';
import { unitsClosedInErp } from '../../erp/outbox/cancel-out.ts';
import { shown } from '../../languages/language.ts';
import { type LateDecisionKind, lateDecisions } from '../../posting/types.ts';
import { amount, date, instant } from '../../queries/answer.ts';
import { whoAndWhere } from '../../queries/problem-documents.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { labels } from '../../texts/commands/labels.ts';
import { verdictTexts } from '../../texts/commands/reconcile.ts';
import { lateTexts } from '../../texts/commands/results.ts';
import { problemTexts } from '../../texts/findings/problems.ts';
import { codeWord, count } from '../../wording/words.ts';
import { chosenBooks, type LocalTimes, localTimes } from '../books.ts';
import { type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { numbered } from '../render/problems.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
}

export const answer = z.strictObject({
  late: z.array(z.strictObject({ installation: z.number(), id: z.string(), reversal: z.string().nullable() })),
  documents: z.array(
    z.strictObject({
      installation: z.number(),
      id: z.string(),
      document: z.string(),
      date: date.nullable(),
      /** The number printed on the invoice, or on a payment’s invoice. */
      number: z.string().nullable(),
      /** For a posted document, amount and VAT are the differences from its entry. */
      amount: amount.nullable(),
      vat: amount.nullable(),
      customer: z.string().nullable(),
      client_id: z.number().nullable(),
      /** Days since the document’s date. */
      age_days: z.number().nullable(),
      code: z.string(),
      message: z.string(),
      in_force: z.string().nullable(),
      decided: z
        .strictObject({
          decision: z.enum(lateDecisions),
          by: z.string(),
          at: instant,
          reason: z.string(),
        })
        .nullable(),
      decisions: z.array(z.string()),
    }),
  ),
});

export const command: Definition<Options> = {
  description:
    'A document is late if its date, or that of its entry in force, is in a closed period or before start_date, or if it was recorded long after its date. Missing documents are listed, too. A document that was late at a close of our books needs a decision even after the books are reopened.',
  options: [installation],
  examples: [
    ['vetledger late', 'what needs a decision, and what was decided'],
    ['vetledger late decide 4711/invoice/123 --redate --reason "came after the close"', 'one document'],
  ],
  answer,
  run: list,
};

/**
 * Prints what needs a decision of the accountant: documents that are late or missing, and entries and daily summaries whose period the
 * ERP closed before they were sent.
 */
export function list(context: CommandContext, options: Options): Promise<number> {
  return withApp(context, { temporal: false }, async (app) => {
    const documents: ListedLate[] = [];
    const late: { installation: InstallationId; id: string; reversal: string | null }[] = [];
    for (const { id, erp, decimals, dialect, timezone } of await chosenBooks(app, options.installation)) {
      const found = await lateDocuments(app.db, id);
      const decisions = await decisionsOf(app.db, id, found);
      const parties = await whoAndWhere(app.db, id, dialect, found);
      const today = dateIn(timezone, app.clock());
      for (const document of found) {
        const own = decisions.get(`${document.kind}/${document.id}`) ?? [];
        const shown = (of: string | null) => of && formatExact(new Money(of), decimals);
        const {
          number = null,
          customer = null,
          clientId = null,
        } = parties.get(`${document.kind}/${document.id}`) ?? {};
        documents.push({
          ...listed(id, document, own.find(({ version }) => version === document.version) ?? null),
          ...{ amount: shown(document.amount), vat: shown(document.vat), number, customer, client_id: clientId },
          age_days: document.documentDate === null ? null : daysBetween(document.documentDate, today),
        });
      }
      if (!isDelivered(erp)) continue;
      for (const { unitId, reversal } of await unitsClosedInErp(app.db, id)) {
        late.push({ installation: id, id: unitId, reversal });
      }
    }
    await context.result({ late, documents }, () => lateText(documents, late, localTimes(app.config)));
    return 0;
  });
}

/** A late document as `late --json` prints it. */
interface ListedLate {
  installation: InstallationId;
  /** The id for `late decide`. */
  id: string;
  document: string;
  date: CalendarDate | null;
  code: string;
  message: string;
  amount: string | null;
  vat: string | null;
  number: string | null;
  customer: string | null;
  client_id: number | null;
  age_days: number | null;
  /** The entry in force, if a change of it is late. */
  in_force: string | null;
  /** The decision on its present version. */
  decided: { decision: LateDecisionKind; by: string; at: Date; reason: string } | null;
  /** The possible options of `late decide`. */
  decisions: string[];
}

type Recorded = NonNullable<ListedLate['decided']> & { version: string };

type Figures = 'amount' | 'vat' | 'number' | 'customer' | 'client_id' | 'age_days';

function listed(
  installation: InstallationId,
  document: LateDocument,
  decided: Recorded | null,
): Omit<ListedLate, Figures> {
  const { kind, id, problem, message, documentDate, entryId } = document;
  return {
    ...{ installation, id: `${installation}/${kind}/${id}`, document: `${kind} ${id}`, date: documentDate },
    ...{ code: problem ?? '', message, in_force: entryId },
    decided: decided && { decision: decided.decision, by: decided.by, at: decided.at, reason: decided.reason },
    decisions: (decisionsFor[problem ?? ''] ?? []).map(optionOf),
  };
}

function lateText(
  documents: readonly ListedLate[],
  units: readonly { id: string; reversal: string | null }[],
  at: LocalTimes,
): string {
  const sections = [
    documents.length === 0
      ? lateTexts.noDocument
      : lateTexts.undecided({ documents: count(documents.length, 'document') }),
    ...documents.map((each) => documentText(visibleIn(each), at)),
  ];
  if (units.length > 0) {
    const lines = units.map(
      ({ id, reversal }) => `  ${reversal === null ? id : lateTexts.reversedBy({ unit: id, reversal })}`,
    );
    const entries = count(units.length, 'entryWaits');
    sections.push([lateTexts.waitInErp({ entries }), ...lines].join('\n'));
  }
  return sections.join('\n\n');
}

function documentText({ id, date, code, message, decided, decisions, ...figures }: ListedLate, at: LocalTimes): string {
  const { amount: of, vat, customer, age_days: age, in_force: inForce } = figures;
  const facts = [
    of === null ? verdictTexts.amountUnknown : inForce === null ? of : lateTexts.differsBy({ amount: of }),
    ...(vat === null ? [] : [labels.vat({ amount: vat })]),
    customer ?? problemTexts.noClient,
    ...(age === null ? [] : [lateTexts.age({ days: count(age, 'day') })]),
  ];
  return [
    `${numbered(id, figures.number)}  ${date ?? labels.noDate}  ${code}  ${facts.join('  ')}`,
    `    ${shown(message)}`,
    decided === null
      ? `    ${lateTexts.notDecided({ decisions: decisions.join(', ') })}`
      : `    ${lateTexts.decidedAs({
          ...{ decision: codeWord(decided.decision).replaceAll('_', ' '), by: decided.by },
          ...{ at: at(figures.installation, decided.at), reason: decided.reason },
        })}`,
  ].join('\n');
}
