import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { formatMoney } from '../domain/money.ts';
import { differencesOfOriginals } from '../reconcile/e8-prepayment-vat.ts';
import type { ReportedDifference } from '../reconcile/reconcile-report.ts';

/**
 * Prepayments whose VAT in the books differs from the VAT of their unused amount in the source (ACCOUNTING E8); null if
 * no VAT is posted on prepayments. `db` must be one snapshot.
 */
export async function prepaymentVatDifferences(
  db: Connection,
  { id, dialect, decimals, mapping, timezone }: InstallationConfig,
): Promise<ReportedDifference[] | null> {
  const refundLowersUnused = dialect.prepayment.refund_lowers_unused_amount;
  const found = await differencesOfOriginals(db, { id, dialect, decimals, mapping, timezone, refundLowersUnused });
  return (
    found?.map(({ document, amount, message }) => ({
      ...{ document, message },
      difference: formatMoney(amount, decimals),
    })) ?? null
  );
}
