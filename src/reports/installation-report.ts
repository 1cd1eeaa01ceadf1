import type { InstallationConfig } from '../config/load-config.ts';
import { type Outside, type OutsideFigure, type OutsideReason, ofReasons } from '../documents/outside-books.ts';
import { labelOf } from '../domain/installation-name.ts';
import type { Money } from '../domain/money.ts';
import { labels } from '../texts/commands/labels.ts';
import { verdictTexts } from '../texts/commands/reconcile.ts';
import { countTexts } from '../texts/counts.ts';
import { reportNotes } from '../texts/reports/reports.ts';
import type { Cell, Column, Figure, Item, Period, Section, SectionShape } from './report-sections.ts';

/** A report of an installation, with what its head and notes say. */
export interface InstallationReport {
  report: string;
  installation: Pick<InstallationConfig, 'id' | 'name' | 'currency' | 'decimals' | 'timezone' | 'startDate'>;
  period: Period;
  of: 'month' | 'day' | 'start' | 'span';
  /** The report contains only entries recorded by this time. Null for all entries. */
  recordedBy: Date | null;
  sections: readonly Section[];
  /** Documents that are missing in the figures, because they are not in the books. */
  outside: Outside;
  /** Further fields of the JSON. */
  more?: object;
  /** Lines below the heading, made in the language in force: a person's reason must not be taken for a text. */
  headed?: readonly (() => string)[];
  /** Further notes beside the figures. */
  notes?: readonly string[];
}

export function cellText(cell: Cell | undefined): string {
  return cell === null || cell === undefined ? '' : String(cell);
}

/** The items of a figure, read while they are printed. */
export async function* itemsOf({ items }: Figure): AsyncGenerator<Item> {
  yield* items;
}

/** The columns of amounts that a reader sees: a rare one only if a document of the figures has an amount in it. */
export function shownAmounts({ amounts }: SectionShape, figures: readonly Figure[]): Column[] {
  const has = ({ items, amounts: sums }: Figure, name: string) =>
    Array.isArray(items) ? items.some((item: Item) => isAmount(item.amounts[name])) : isAmount(sums[name]);
  return amounts.filter(({ name, isRare }) => !isRare || figures.some((figure) => has(figure, name)));
}

function isAmount(amount: Money | undefined): boolean {
  return amount !== undefined && !amount.isZero();
}

/** The reasons of documents that are posted, although not as the source has them. */
const postedReasons: readonly OutsideReason[] = ['change_held', 'missing_in_source'];

export interface OutsideNote {
  text: string;
  /** Whether the next window, or the one that runs, posts the documents, without an act of a person. */
  isNext: boolean;
}

/**
 * Notes about documents that are not in the books, or not as the source has them, in the language in force. A posted document
 * is in the figures, so it does not count as missing.
 */
export function outsideNotes({ outside, period, of, installation }: InstallationReport): OutsideNote[] {
  const dated = of === 'month' ? reportNotes.monthSpan(period) : reportNotes.upTo(period);
  const note = (isPosted: boolean, text: (of: Record<'installation' | 'documents' | 'dated', string>) => string) => {
    const found = ofReasons(outside, (reason) => postedReasons.includes(reason) === isPosted, installation.decimals);
    if (Object.keys(found).length === 0) return [];
    const isNext = Object.values(found).every(({ reasons }) =>
      Object.keys(reasons).every((each) => each === 'pending'),
    );
    return [{ text: text({ installation: labelOf(installation), documents: outsideText(found), dated }), isNext }];
  };
  return [...note(false, reportNotes.missing), ...note(true, reportNotes.changeHeld)];
}

const singular = { invoices: 'invoice', payments: 'payment', prepayments: 'prepayment', vat_due: 'vat_due' } as const;

/** `12 invoices (1204.50, VAT 233.10, oldest 2026-01-04), 3 payments (60.00, oldest 2026-02-01)` */
export function outsideText(outside: Outside): string {
  return (Object.entries(outside) as [keyof Outside, OutsideFigure][])
    .map(([kinds, { documents, amount, vat, oldest }]) => {
      const facts = [
        amount ?? verdictTexts.amountUnknown,
        ...(vat ? [labels.vat({ amount: vat })] : []),
        ...(oldest ? [labels.oldest({ date: oldest })] : []),
      ];
      return `${countTexts[singular[kinds]]({ n: documents })} (${facts.join(', ')})`;
    })
    .join(', ');
}
