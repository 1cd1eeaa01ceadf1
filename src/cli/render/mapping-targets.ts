import { z } from 'zod';
import { amount } from '../../queries/answer.ts';
import type { ShownTargets } from '../../queries/mapping-shown.ts';
import { mappingShowTexts as texts } from '../../texts/commands/mapping.ts';
import { codeWord } from '../../wording/words.ts';
import { columns, heads } from './text.ts';

/** `account` is null if the mapping gives none. `earlier` is the account of the first day, if rules by date changed it. */
const target = {
  account: z.string().nullable(),
  name: z.string().nullable(),
  role: z.string().nullable(),
  by: z.string().nullable(),
  earlier: z.string().nullable(),
  departments: z.array(z.number().nullable()),
  count: z.number(),
};
const group = { group: z.string().nullable(), rate: z.string().nullable() };
const practiceAccount = { source_account: z.string().nullable(), source_name: z.string().nullable() };

export const targetsAnswer = {
  revenue: z.array(z.strictObject({ ...practiceAccount, ...group, ...target, net: amount })),
  vat: z.array(z.strictObject({ ...group, kind: z.string().nullable(), ...target, base: amount, vat: amount })),
  payments: z.array(
    z.strictObject({
      of: z.enum(['payment', 'prepayment']),
      payment_type: z.number().nullable(),
      payment_type_name: z.string().nullable(),
      ...target,
      amount,
    }),
  ),
  roles: z.array(
    z.strictObject({ role: z.string(), meaning: z.string(), account: z.string(), name: z.string().nullable() }),
  ),
};
export function targetsText({ revenue, vat, payments, roles }: ShownTargets): string[] {
  const groupText = (one: { group: string | null; rate: string | null }) =>
    `${one.group ?? '-'}${one.rate === null || one.group?.includes(one.rate) ? '' : ` (${one.rate} %)`}`;
  const departments = (one: { departments: (number | null)[] }) => one.departments.map((id) => id ?? '-').join(', ');
  const to = ({ account, name, earlier, by }: ShownTargets['revenue'][number] | ShownTargets['vat'][number]) => [
    ...[account ?? texts.none, name ?? ''],
    earlier === null ? (by ?? '') : texts.earlier({ by: by ?? '', account: earlier }),
  ];
  const sections: [title: string, header: string[], rows: string[][], numbers: number[]][] = [
    [
      texts.revenue,
      heads('practice_account', 'name_there', 'group', 'departments', 'account', 'name', 'rule_by', 'rows', 'net'),
      revenue.map((one) => [
        ...[one.source_account ?? '-', one.source_name ?? '', groupText(one), departments(one), ...to(one)],
        ...[String(one.count), one.net],
      ]),
      [7, 8],
    ],
    [
      texts.vat,
      heads('group', 'kind', 'departments', 'account', 'name', 'rule_by', 'rows', 'base', 'vat'),
      vat.map((one) => [
        ...[groupText(one), one.kind === null ? texts.none : codeWord(one.kind), departments(one)],
        ...(one.by === null && !/[1-9]/.test(one.vat) ? ['', '', ''] : to(one)),
        ...[String(one.count), one.base, one.vat],
      ]),
      [6, 7, 8],
    ],
    [
      texts.payments,
      heads('of', 'payment_type_there', 'departments', 'account', 'name', 'role', 'records', 'amount'),
      payments.map((one) => [
        ...[
          codeWord(one.of),
          one.payment_type_name ?? '-',
          departments(one),
          one.account ?? texts.none,
          one.name ?? '',
        ],
        ...[one.role ?? '', String(one.count), one.amount],
      ]),
      [6, 7],
    ],
    [
      texts.roles,
      heads('role', 'account', 'name', ''),
      roles.map((one) => [one.role, one.account, one.name ?? '', one.meaning]),
      [],
    ],
  ];
  return sections.flatMap(([title, header, rows, numbers]) => [
    title,
    ...(rows.length === 0 ? [`  ${texts.nothing}`] : columns([header, ...rows], numbers).map((line) => `  ${line}`)),
    '',
  ]);
}
