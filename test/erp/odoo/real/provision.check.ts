import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasOdoo, type OdooPerson } from '../../../support/odoo.ts';
import { enterByHand, post, readMoves, resetToDraft, taxReport } from '../../../support/odoo-books.ts';
import { accountsOf, idIn, makeCompany, type OdooCompany, setLock } from '../../../support/odoo-company.ts';
import { contractBooks } from '../../../support/odoo-demo.ts';

/** Checks what the delivery tests assume: the company that they deliver into, and the rights of its users. */
describe.skipIf(!hasOdoo)('a company that is made for tests in a real Odoo', () => {
  let company: OdooCompany;
  let admin: OdooPerson;
  let api: OdooPerson;
  /** A user without the right to look up external ids. */
  let plain: OdooPerson;

  beforeAll(async () => {
    company = await makeCompany(contractBooks);
    admin = company.admin;
    api = await company.api();
    plain = await company.api({ mayLookUp: false });
  });
  afterAll(() => company?.release());

  /**
   * Loads a draft like vetledger: amounts as text, external ids on the move and on each line, and the tax given instead
   * of computed.
   */
  async function load(person: OdooPerson, key: string, date: string): Promise<number> {
    const accounts = await accountsOf(person);
    const tax = await idIn(person, 'account.tax', { name: '25.5%', type_tax_use: 'sale' });
    const parts = await person.read<{ repartition_type: string; tag_ids: number[] }>(
      'account.tax.repartition.line',
      [
        ['tax_id', '=', tax],
        ['document_type', '=', 'invoice'],
      ],
      ['repartition_type', 'tag_ids'],
    );
    const [base, vat] = ['base', 'tax'].map((type) => parts.find((part) => part.repartition_type === type)!);
    const [partner, surgery, journal] = [
      await idIn(person, 'res.partner', { ref: 'CLIENTS' }),
      await idIn(person, 'account.analytic.account', { code: 'SURG' }),
      await idIn(person, 'account.journal', { code: 'VETI' }),
    ];
    const line = { 'account_id/.id': '', 'partner_id/.id': '', debit: '0', credit: '0' };
    const lines: Record<string, string>[] = [
      { ...line, 'account_id/.id': `${accounts.get('121000')}`, 'partner_id/.id': `${partner}`, debit: '125.50' },
      {
        ...{ ...line, 'account_id/.id': `${accounts.get('400020')}`, credit: '100.00' },
        ...{ 'tax_ids/.id': `${tax}`, 'tax_tag_ids/.id': `${base!.tag_ids[0]}` },
        analytic_distribution: JSON.stringify({ [surgery]: 100 }),
      },
      {
        ...{ ...line, 'account_id/.id': `${accounts.get('251000')}`, credit: '25.50', tax_base_amount: '100.00' },
        ...{ 'tax_repartition_line_id/.id': `${vat!.id}`, 'tax_tag_ids/.id': `${vat!.tag_ids[0]}` },
      },
    ];
    const lineFields = [...new Set(lines.flatMap(Object.keys))];
    const head = {
      id: `vetledger.${key}`,
      move_type: 'entry',
      'journal_id/.id': `${journal}`,
      date,
      ref: `Invoice [${key}]`,
    };
    const rows = lines.map((each, n) => [
      ...(n === 0 ? Object.values(head) : Object.values(head).map(() => '')),
      `vetledger.${key}_${n + 1}`,
      ...lineFields.map((field) => each[field] ?? ''),
    ]);
    const fields = [...Object.keys(head), 'line_ids/id', ...lineFields.map((field) => `line_ids/${field}`)];
    const answer = await person.call<{ ids: number[] | false; messages: unknown[] }>('account.move', 'load', [
      fields,
      rows,
    ]);
    expect(answer.messages).toEqual([]);
    return (answer.ids as number[])[0]!;
  }

  const keyOf = (name: string) => `TEST${company.id}${name}`;
  const moveOf = async (id: number) => (await readMoves(admin, [['id', '=', id]]))[0]!;
  const refusal = (ask: Promise<unknown>) =>
    ask.then(
      () => 'accepted',
      (error: Error) => error.message,
    );

  test('has its accounts, journals, taxes, plans and partners, in euros', async () => {
    const [told] = await admin.read<object>(
      'res.company',
      [['id', '=', company.id]],
      ['currency_id', 'chart_template'],
    );
    expect(told).toMatchObject({ currency_id: [expect.anything(), 'EUR'], chart_template: 'generic_coa' });
    const accounts = await accountsOf(api);
    for (const { code } of contractBooks.accounts) expect(accounts.has(code), code).toBe(true);
    for (const code of ['121000', '251000', '400000']) expect(accounts.has(code), code).toBe(true);
    for (const { name } of contractBooks.taxes) await idIn(api, 'account.tax', { name, type_tax_use: 'sale' });
    for (const { code } of contractBooks.journals) await idIn(api, 'account.journal', { code });
    for (const { ref } of contractBooks.partners) await idIn(api, 'res.partner', { ref });
    for (const { accounts: values } of contractBooks.plans) {
      for (const { code } of values) await idIn(api, 'account.analytic.account', { code });
    }
  });

  test.each(['with', 'without'])(
    'its user writes, posts and matches entries %s the right to look up',
    async (right) => {
      const user = right === 'with' ? api : plain;
      const key = keyOf(right);
      const id = await load(user, key, '2026-01-15');
      await post(user, id);
      const move = await moveOf(id);
      expect(move).toMatchObject({
        ...{ state: 'posted', date: '2026-01-15', journal: 'VETI', ref: `Invoice [${key}]` },
        externalIds: [`vetledger.${key}`],
      });
      expect(
        move.lines.map((line) => [
          line.account,
          line.amount.toFixed(2),
          line.partner,
          line.tax,
          line.taxBase.toFixed(2),
          line.analytic,
        ]),
      ).toEqual([
        ['121000', '125.50', 'CLIENTS', null, '0.00', {}],
        ['400020', '-100.00', null, null, '0.00', { SURG: 100 }],
        ['251000', '-25.50', null, '25.5%', '100.00', {}],
      ]);
      expect(move.lines.map(({ externalIds }) => externalIds)).toEqual([1, 2, 3].map((n) => [`vetledger.${key}_${n}`]));

      const partner = await idIn(user, 'res.partner', { ref: 'CLIENTS' });
      const payment = await enterByHand(user, {
        ...{ journal: 'VETP', date: '2026-01-16', amount: '125.50', partner, accounts: ['101920', '121000'] },
      });
      const paid = (await moveOf(payment)).lines.find(({ account }) => account === '121000')!;
      const pair = [move.lines[0]!.id, paid.id];
      await user.call('account.move.line', 'reconcile', [pair]);
      const [matched] = (await moveOf(id)).lines;
      expect(matched).toMatchObject({ isReconciled: true, match: expect.any(Number) });
      expect(matched!.residual.toFixed(2)).toBe('0.00');
      await user.call('account.move.line', 'remove_move_reconcile', [pair]);
      expect((await moveOf(id)).lines[0]).toMatchObject({ isReconciled: false, match: null });

      const draft = await load(user, keyOf(`draft-${right}`), '2026-01-15');
      await user.call('account.move', 'unlink', [[draft]]);
      expect(await moveOf(draft)).toBeUndefined();
      const known = user.search('ir.model.data', [['name', '=', key]]);
      expect(await refusal(known)).toMatch(right === 'with' ? 'accepted' : 'AccessError');
    },
  );

  test('its tax report has base and tax of each rate', async () => {
    const before = await taxReport(admin);
    await post(api, await load(api, keyOf('report'), '2026-02-15'));
    const after = await taxReport(admin);
    const added = (figure: string) => {
      const name = `${company.id} ${figure} 25.5%`;
      return after
        .get(name)!
        .minus(before.get(name) ?? 0)
        .toFixed(2);
    };
    expect([added('base'), added('tax')]).toEqual(['100.00', '25.50']);
  });

  test('its user makes contacts, and can change neither locks nor accounts', async () => {
    const name = `vetledger.partner_test_${company.id}`;
    const made = await plain.call<{ ids: number[] }>('res.partner', 'load', [
      ['id', 'name', 'ref'],
      [[name, 'A client', name]],
    ]);
    expect(await admin.refer(name)).toBe(made.ids[0]);
    expect(await refusal(setLock(api, '2026-01-31'))).toContain('AccessError');
    const [account] = (await accountsOf(api)).values();
    expect(await refusal(api.write('account.account', account!, { name: 'Another' }))).toContain('AccessError');
  });

  test('its accountant locks days and unlocks them, and changes what is posted', async () => {
    const id = await load(api, keyOf('hand'), '2026-03-15');
    await post(api, id);
    await resetToDraft(admin, id);
    expect(await moveOf(id)).toMatchObject({ state: 'draft' });
    await admin.write('account.move', id, { date: '2026-03-20' });
    await post(admin, id);
    expect(await moveOf(id)).toMatchObject({ state: 'posted', date: '2026-03-20' });

    await setLock(admin, '2026-03-31');
    const late = await load(api, keyOf('late'), '2026-03-15');
    await post(api, late);
    await setLock(admin, null);
    // Odoo does not refuse it, but posts it on the last day of the next month.
    expect(await moveOf(late)).toMatchObject({ state: 'posted', date: '2026-04-30' });
  });
});
