import type { ErpProblemCode } from '../../../texts/erp-problems.ts';
import { erpRecordFindings } from '../../../texts/findings/erp-records.ts';
import { type DimensionField, dimensionFields, vatCodes } from './codes.ts';
import type { YearsAccount } from './names.ts';

/** How lines use an account. */
export interface AccountUse {
  taxes: readonly { code: string; part: 'base' | 'tax' }[];
  dimensions: ReadonlySet<string>;
}

/** The reason why lines cannot use an account as intended; null if they can. The VAT return follows the account. */
export function accountFault(
  { isActive, vatCode, settings, proposed }: YearsAccount,
  { taxes, dimensions }: AccountUse,
): { code: ErpProblemCode; reason: string } | null {
  if (!isActive) return { code: 'erp_account_unknown', reason: erpRecordFindings.isClosed };
  for (const { code, part } of taxes) {
    const wanted = vatCodes(code)[part];
    if (wanted !== null && wanted !== vatCode)
      return { code: 'erp_tax_unknown', reason: erpRecordFindings.hasVatCode({ held: vatCode ?? '–', wanted }) };
  }
  for (const field of dimensionFields) {
    const reason = dimensionFault(field, {
      setting: settings[field],
      value: proposed[field],
      isUsed: dimensions.has(field),
    });
    if (reason !== null) return { code: 'erp_dimension_unknown', reason };
  }
  return null;
}

function dimensionFault(
  field: DimensionField,
  { setting, value, isUsed }: { setting: string; value: string | undefined; isUsed: boolean },
): string | null {
  if (isUsed) return setting === 'NOTALLOWED' ? erpRecordFindings.takesNoDimension({ field }) : null;
  if (value !== undefined) return erpRecordFindings.proposesDimension({ field, value });
  return setting === 'MANDATORY' ? erpRecordFindings.needsDimension({ field }) : null;
}
