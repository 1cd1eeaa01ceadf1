import type { ShownMapping } from '../../../queries/mapping-shown.ts';
import { mappingShowTexts as texts } from '../../../texts/commands/mapping.ts';
import { columnTitles as titles } from '../../../texts/reports/columns.ts';
import { codeWord } from '../../../wording/words.ts';
import type { Column } from '../../parts/table.ts';

/** A table of the screen. `account` is the account of a row, which links to its lines. Null if the mapping gives none. */
export interface TargetTable {
  name: 'revenue' | 'vat' | 'payments' | 'roles';
  title: string;
  columns: readonly Column[];
  rows: { cells: (string | number)[]; account: string | null }[];
  /** The place of the account among the cells. */
  accountAt: number;
}

/** The tables of `mapping show`, in the language of the page. */
export function targetTables({ revenue, vat, payments, roles }: ShownMapping): TargetTable[] {
  const columns = (names: readonly (keyof typeof titles)[], numbers: readonly (keyof typeof titles)[]) => [
    ...names.map((name) => ({ title: titles[name] })),
    ...numbers.map((name) => ({ title: titles[name], isNumber: true })),
  ];
  return [
    {
      ...{ name: 'revenue', title: texts.revenue, accountAt: 4 },
      columns: columns(
        ['practice_account', 'name_there', 'group', 'departments', 'account', 'name', 'rule_by'],
        ['rows', 'net'],
      ),
      rows: revenue.map((one) => ({
        account: one.account,
        cells: [
          ...[one.source_account ?? '', one.source_name ?? '', groupText(one), departmentsText(one)],
          ...[accountText(one), one.name ?? '', byText(one), one.count, one.net],
        ],
      })),
    },
    {
      ...{ name: 'vat', title: texts.vat, accountAt: 3 },
      columns: columns(['group', 'kind', 'departments', 'account', 'name', 'rule_by'], ['rows', 'base', 'vat']),
      rows: vat.map((one) => {
        // A group without VAT needs no account.
        const isNeeded = one.by !== null || /[1-9]/.test(one.vat);
        const to = isNeeded ? [accountText(one), one.name ?? '', byText(one)] : ['', '', ''];
        return {
          account: one.account,
          cells: [
            ...[groupText(one), one.kind ?? texts.none, departmentsText(one), ...to],
            ...[one.count, one.base, one.vat],
          ],
        };
      }),
    },
    {
      ...{ name: 'payments', title: texts.payments, accountAt: 3 },
      columns: columns(['of', 'payment_type_there', 'departments', 'account', 'name', 'role'], ['records', 'amount']),
      rows: payments.map((one) => ({
        account: one.account,
        cells: [
          ...[codeWord(one.of), one.payment_type_name ?? '', departmentsText(one), accountText(one)],
          ...[one.name ?? '', one.role ?? '', one.count, one.amount],
        ],
      })),
    },
    {
      ...{ name: 'roles', title: texts.roles, accountAt: 1 },
      columns: columns(['role', 'account', 'name', 'text'], []),
      rows: roles.map(({ role, account, name, meaning }) => ({ account, cells: [role, account, name ?? '', meaning] })),
    },
  ];
}

function accountText({ account }: { account: string | null }): string {
  return account ?? texts.none;
}

function groupText({ group, rate }: { group: string | null; rate: string | null }): string {
  return `${group ?? ''}${rate === null || group?.includes(rate) ? '' : ` (${rate} %)`}`;
}

function departmentsText({ departments }: { departments: readonly (number | null)[] }): string {
  return departments.map((id) => id ?? '-').join(', ');
}

function byText({ by, earlier }: { by: string | null; earlier: string | null }): string {
  return earlier === null ? (by ?? '') : texts.earlier({ by: by ?? '', account: earlier });
}

/** The table with the rows that contain a text. */
export function searched(table: TargetTable, search: string): TargetTable {
  const wanted = search.toLowerCase();
  const rows = table.rows.filter(({ cells }) => cells.some((cell) => String(cell).toLowerCase().includes(wanted)));
  return { ...table, rows };
}
