// Compares the oracle with src/reconcile on the same books: if the oracle finds no difference, src/reconcile must not
// find one either.
import { signed } from '../../src/domain/entry.ts';
import { type Money, zero } from '../../src/domain/money.ts';
import type { ShareInForce } from '../../src/ledger/journal/shares.ts';
import { checkReceivable } from '../../src/reconcile/e2-receivable.ts';
import { PrepaymentEquation } from '../../src/reconcile/e3-prepayment.ts';
import { checkPayment, checkPrepayment } from '../../src/reconcile/e4-payments.ts';
import { checkRevenue } from '../../src/reconcile/e5-revenue.ts';
import { OriginalsVat } from '../../src/reconcile/e8-originals.ts';
import type { Difference } from '../../src/reconcile/reconcile-report.ts';
import type {
  LedgerSum,
  ReconciledDocument,
  ReconciledInvoice,
  ReconciledPayment,
  ReconciledPrepayment,
} from '../../src/reconcile/reconciled-documents.ts';
import type { SourceRecord } from '../../src/records/types.ts';
import { type Books, type DocumentBook, inForce } from './books.ts';
import { Broken } from './broken.ts';
import type { Setting } from './clinic.ts';
import type { Mirror, Seen } from './mirror.ts';
import { takenBy } from './shares.ts';

/**
 * Computes E2-E5 and E8 of originals with src/reconcile. It must be called when everything was delivered and judged.
 */
export function reconcileAgrees(books: Books, mirror: Mirror, setting: Setting): void {
  // An unreadable amount leaves E2 and E3 open.
  const amounts = [...mirror.payments.values(), ...mirror.prepayments.values()];
  if (amounts.some(({ damage }) => damage?.field === 'paid' || damage?.field === 'payment_type')) return;
  const settings = { decimals: setting.decimals, timezone: setting.timezone, startDate: setting.startDate };
  const differences: [string, Difference][] = [];
  const found = (equation: string, list: Difference[]) => {
    for (const difference of list) differences.push([equation, difference]);
  };
  const prepayments = new PrepaymentEquation();
  const originals = new OriginalsVat();
  const matches = new Map<number, Map<number, Money>>();
  const bookOf = (kind: DocumentBook['kind'], id: number) => books.documents.get(`${kind}/${id}`);
  for (const [id, seen] of mirror.invoices) {
    const own = bookOf('invoice', id);
    const payments: ReconciledPayment[] = [...(mirror.paymentsOf.get(id) ?? [])].map((payment) => {
      return asBook(mirror.payments.get(payment)!, bookOf('payment', payment));
    });
    const standing = own && inForce(own)[0];
    const book: ReconciledInvoice = {
      ...asBook(seen, own),
      payments,
      rows: mirror.rowSets.get(id)?.rows.map((row) => row.record) ?? [],
      inForce:
        standing?.lines.map((line) => ({
          account: line.account,
          role: line.role,
          partyCode: line.party?.code ?? null,
          vatGroup: line.vat?.group ?? null,
          vatRate: line.vat?.rate ?? null,
          documentDate: standing.documentDate,
          rowIds: line.rowIds,
          amount: signed(line),
        })) ?? null,
      wasCorrected: (own?.entries.length ?? 0) > (standing === undefined ? 0 : 1),
    };
    found('E2', checkReceivable(book, settings).differences);
    found('E5', checkRevenue(book, setting.decimals).differences);
  }
  for (const [id, seen] of mirror.payments) {
    const book: ReconciledPayment = asBook(seen, bookOf('payment', id));
    const invoice = mirror.invoices.get(seen.source.invoice)?.record ?? null;
    found('E4', checkPayment(book, invoice, settings).differences);
    if (seen.record.paymentType !== 8) continue;
    prepayments.addUse(book, { clientId: invoice?.clientId ?? null, matched: false });
    // E3 is computed without matches, E8 with the matches in the clinic's records.
    const taken = takenBy({ kind: 'payment', id }, mirror);
    if (taken && !seen.gone) matches.set(id, new Map([[taken.prepaymentId, taken.amount]]));
    const clientId = invoice?.clientId ?? null;
    const used = { clientId, prepaymentIds: taken ? [taken.prepaymentId] : [], isCancelled: false };
    originals.addUse({ ...book, used }, clientId);
  }
  for (const [id, seen] of mirror.prepayments) {
    const book: ReconciledPrepayment = asBook(seen, bookOf('prepayment', id));
    found('E4', checkPrepayment(book, settings).differences);
    prepayments.addPrepayment(book);
    originals.addPrepayment(book);
  }
  found('E3', prepayments.check(setting.quirks.refundLowersUnused, setting.decimals).differences);
  const asked = new Set(originals.asked.matchesOf);
  const outside = new Map([...matches].filter(([id]) => asked.has(id)));
  const { refundLowersUnused } = setting.quirks;
  const vat = originals.check(sharesInForce(books), outside, refundLowersUnused, setting.decimals).differences;
  const unasked = takenWithoutVat(books, mirror);
  found(
    'E8',
    vat.filter(({ document }) => !unasked.has(document)),
  );
  const [first] = differences;
  if (!first) return;
  const [equation, { document, message }] = first;
  const documents = document.split(', ').map((name) => name.replace(' ', '/'));
  throw new Broken(`reconcile ${equation}`, documents, `${document}: ${message}, and the oracle finds nothing`);
}

function sharesInForce(books: Books): ShareInForce[] {
  return [...books.documents.values()].flatMap((book) =>
    (inForce(book)[0]?.shares ?? []).map((share) => ({ ...share, document: { kind: book.kind, id: book.id } })),
  );
}

/**
 * Prepayments with a share in an entry that was posted when the mapping had no VAT on prepayments, and that was not
 * posted again since.
 */
function takenWithoutVat(books: Books, mirror: Mirror): Set<string> {
  const found = [...books.documents.values()].flatMap((book) => {
    const taken = takenBy(book, mirror);
    const [entry] = inForce(book);
    const gives = entry?.shares?.some(({ prepaymentId, hasVat }) => prepaymentId === taken?.prepaymentId && hasVat);
    return taken && entry && !gives ? [`prepayment ${taken.prepaymentId}`] : [];
  });
  return new Set(found);
}

function asBook<Record extends SourceRecord>(
  seen: Seen<Record, unknown>,
  book: DocumentBook | undefined,
): ReconciledDocument<Record> {
  return {
    record: seen.record,
    gone: seen.gone,
    changed: true,
    state: book?.state ?? null,
    problem: book?.problem ?? null,
    dirty: book?.dirty ?? true,
    documentDate: book?.documentDate ?? null,
    sums: sumsByTags(book),
  };
}

function sumsByTags(book: DocumentBook | undefined): LedgerSum[] {
  const sums = new Map<string, LedgerSum>();
  for (const { lines, documentDate } of book?.entries ?? []) {
    for (const line of lines) {
      const { account, role, invoiceId, paymentType, departmentId } = line;
      const tags = {
        account,
        role,
        invoiceId,
        partyCode: line.party?.code ?? null,
        paymentType,
        departmentId,
        documentDate,
      };
      const key = JSON.stringify(tags);
      const known = sums.get(key) ?? { ...tags, amount: zero };
      known.amount = known.amount.plus(signed(line));
      sums.set(key, known);
    }
  }
  return [...sums.values()].filter(({ amount }) => !amount.isZero());
}
