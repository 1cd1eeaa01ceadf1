import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TrytonServer } from '../../../scripts/tryton/server.ts';
import { Money } from '../../../src/domain/money.ts';
import { vetledger } from '../../cli/support.ts';
import { startTestClinic, type TestClinic } from '../../support/clinic.ts';
import { hasTryton, openTestTryton, TrytonPerson } from '../../support/tryton.ts';

const trytonDemo = fileURLToPath(new URL('../../../mappings/tryton-demo.yaml', import.meta.url));

/** A line of Tryton as its accountant reads it. */
interface TrytonLine {
  debit: { decimal: string };
  credit: { decimal: string };
  reconciliation: number | null;
  'account.': { code: string };
  'move.': { description: string; state: string };
}

const amountOf = ({ debit, credit }: TrytonLine) => new Money(debit.decimal).minus(credit.decimal);
const add = (to: Map<string, Money>, name: string, amount: Money) =>
  to.set(name, (to.get(name) ?? new Money(0)).plus(amount));
const totalOf = (lines: TrytonLine[]) => lines.reduce((all, line) => all.plus(amountOf(line)), new Money(0));
const shown = (of: Map<string, Money>) =>
  [...of].flatMap(([name, amount]) => (amount.isZero() ? [] : [[name, amount.toFixed(2)]])).sort();

describe.skipIf(!hasTryton)('a sandbox clinic’s books in a real Tryton', { timeout: 180_000 }, () => {
  let tryton: TrytonServer;
  let clinic: TestClinic;
  let accountant: TrytonPerson;

  beforeAll(async () => {
    tryton = await openTestTryton();
    accountant = await TrytonPerson.logIn(tryton, 'admin');
    const { user, password } = tryton.users.api;
    process.env.TRYTON_TEST_PASSWORD = password;
    clinic = await startTestClinic({
      ...{ seed: 5, invoices: 60, mapping: trytonDemo },
      settings: {
        erp: `{kind: tryton, url: "${tryton.url}", database: ${tryton.database}, user: ${user}, password: "$\{TRYTON_TEST_PASSWORD}", auto: true, owned_accounts: ["1700"]}`,
      },
    });
    await clinic.sync();
  }, 180_000);
  afterAll(async () => {
    await clinic?.stop();
    await tryton?.release();
  });

  /** Waits until nothing is left to deliver or to match. */
  async function delivered(): Promise<void> {
    for (let n = 0; n < 600; n++) {
      const [left] = await clinic.rows<{ units: number; items: number }>(
        `select (select count(*)::int from erp_unit where state not in ('delivered', 'refused', 'excluded')) as units,
           (select count(*)::int from erp_open_item where touched <> matched) as items`,
      );
      if (left!.units === 0 && left!.items === 0) return;
      await sleep(200);
    }
    throw new Error('it is not delivered within two minutes');
  }

  const lines = async () => {
    const fields = ['debit', 'credit', 'reconciliation', 'account.code', 'move.description', 'move.state'];
    const found = await accountant.call<TrytonLine[]>(
      ...(['model.account.move.line.search_read', [], 0, null, null, fields] as const),
    );
    expect(found.every((line) => line['move.'].state === 'posted')).toBe(true);
    return found;
  };

  /** Tryton's open receivable lines by invoice, which must be open in our books too. All groups add up to zero. */
  async function openItems(): Promise<Map<number, TrytonLine[]>> {
    const invoices = await clinic.rows<{ key: string; invoice: number }>(
      `select u.erp_key as key, l.invoice_id as invoice from erp_unit u join entry_line l on l.entry_id = u.unit_id
       where l.role = 'receivable'`,
    );
    const receivable = (await lines()).filter((each) => each['account.'].code === '1700');
    expect(receivable).toHaveLength(invoices.length);
    const open = new Map<number, TrytonLine[]>();
    const groups = new Map<string, Money>();
    for (const line of receivable) {
      if (line.reconciliation !== null) {
        add(groups, String(line.reconciliation), amountOf(line));
        continue;
      }
      const { invoice } = invoices.find(({ key }) => line['move.'].description.includes(key))!;
      open.set(invoice, [...(open.get(invoice) ?? []), line]);
    }
    expect(shown(groups)).toEqual([]);
    expect(groups.size).toBeGreaterThan(20);
    const balances = await clinic.rows<{ invoice: number; balance: string }>(
      `select invoice_id as invoice, sum(case side when 'debit' then amount else -amount end)::text as balance
       from entry_line where role = 'receivable' group by invoice_id
       having sum(case side when 'debit' then amount else -amount end) <> 0`,
    );
    const told = new Map([...open].map(([invoice, its]) => [String(invoice), totalOf(its)]));
    expect(shown(told)).toEqual(
      shown(new Map(balances.map(({ invoice, balance }) => [String(invoice), new Money(balance)]))),
    );
    expect(open.size).toBe(balances.length);
    return open;
  }

  test('erp check finds every record that the books need', async () => {
    const { code, json } = await vetledger(['erp', 'check', '--config', clinic.config, '--json'], clinic.env);
    const [{ results }] = json().installations;
    expect(results.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([]);
    expect(results.length).toBeGreaterThan(30);
    expect(code).toBe(0);
  });

  test('balances and open items in Tryton equal those of our books', async () => {
    await delivered();
    expect(await clinic.rows(`select unit_id, problem_message from erp_unit where state = 'refused'`)).toEqual([]);
    const balances = new Map<string, Money>();
    for (const line of await lines()) add(balances, line['account.'].code, amountOf(line));
    const ours = await clinic.rows<{ account: string; amount: string }>(
      `select account, sum(case side when 'debit' then amount else -amount end)::text as amount from entry_line group by account`,
    );
    expect(shown(balances)).toEqual(shown(new Map(ours.map(({ account, amount }) => [account, new Money(amount)]))));
    expect((await openItems()).size).toBeGreaterThan(0);
  });

  test('a payment that is cancelled opens its invoice again, and another one settles it', async () => {
    const [paid] = await clinic.rows<{ id: number; invoice: number; amount: string }>(
      `select e.document_id as id, l.invoice_id as invoice, l.amount::text as amount
       from entry e join entry_line l on l.entry_id = e.id
       where e.kind = 'payment' and l.role = 'receivable' and l.side = 'credit' and l.payment_type = 0
         and l.invoice_id in (select invoice_id from entry_line where role = 'receivable' group by invoice_id
           having sum(case side when 'debit' then amount else -amount end) = 0 and count(*) = 2)
       order by e.entry_date desc limit 1`,
    );
    const { clinic: practice } = clinic.sandbox;
    practice.cancelPayment(paid!.id, 'a mistake');
    await clinic.sync();
    await delivered();
    const [line, ...others] = (await openItems()).get(paid!.invoice)!;
    expect([amountOf(line!).toFixed(2), others]).toEqual([new Money(paid!.amount).toFixed(2), []]);
    expect(line!['move.'].description).toContain('Invoice');
    practice.pay(paid!.invoice, { payment_type: 0, paid: paid!.amount } as never);
    await clinic.sync();
    await delivered();
    expect((await openItems()).has(paid!.invoice)).toBe(false);
    expect(await clinic.rows('select remark from erp_open_item where remark is not null')).toEqual([]);
  });

  const reconcileErp = async (...options: string[]) => {
    const { code, json } = await vetledger(
      ['reconcile', '--erp', ...options, '--config', clinic.config, '--json'],
      clinic.env,
    );
    const [report] = json().installations;
    return { code, E7: report.equations.E7, report };
  };

  test('prepayments carry Tryton’s numbers', async () => {
    await delivered();
    const told = () =>
      clinic.rows<{ id: number; number: string }>(
        `select d.id, u.erp_number as number from document d join erp_unit u on u.unit_id = d.entry_id
         where d.kind = 'prepayment' and d.state = 'posted'`,
      );
    const prepayments = await told();
    expect(prepayments.length).toBeGreaterThan(2);
    const numberOf = (id: number) => clinic.sandbox.clinic.prepayment(id).external_info.external_id;
    await clinic.engine.requestDelivery(clinic.sandbox.installation);
    for (let n = 0; n < 300 && prepayments.some(({ id, number }) => numberOf(id) !== number); n++) await sleep(200);
    for (const { id, number } of prepayments) expect(numberOf(id)).toBe(number);
  });

  test('E7 is ok, and names what a user changes in Tryton', async () => {
    await delivered();
    expect(await reconcileErp()).toMatchObject({ code: 0, E7: { ok: true, documents: [] } });
    expect(await reconcileErp()).toMatchObject({ code: 0, E7: { ok: true, documents: [] } });

    const accounts = await Promise.all(
      ['1700', '3000'].map((code) => accountant.idOf('account.account', [['code', '=', code]])),
    );
    const [anyMove] = await clinic.rows<{ id: string; day: string; document: string }>(
      `select erp_id as id, erp_date::text as day, split_part(unit_id, '/', 2) || ' ' || split_part(unit_id, '/', 3) as document
       from erp_unit where kind = 'entry' and unit_id like '%/invoice/%' order by seq desc limit 1`,
    );
    const [move] = await accountant.call<{ journal: number; period: number; party: number | null }[]>(
      'model.account.move.read',
      [Number(anyMove!.id)],
      ['journal', 'period'],
    );
    const [line] = await accountant.call<{ party: number }[]>(
      'model.account.move.line.search_read',
      [
        ['move', '=', Number(anyMove!.id)],
        ['party', '!=', null],
      ],
      ...[0, 1, null, ['party']],
    );
    const decimal = (text: string) => ({ __class__: 'Decimal', decimal: text });
    const [year, month, day] = anyMove!.day.split('-').map(Number);
    const [byHand] = await accountant.call<number[]>('model.account.move.create', [
      {
        ...{ journal: move!.journal, period: move!.period, date: { __class__: 'date', year, month, day } },
        description: 'by hand',
        lines: [
          [
            'create',
            [
              { account: accounts[0], debit: decimal('1.00'), credit: decimal('0'), party: line!.party },
              { account: accounts[1], debit: decimal('0'), credit: decimal('1.00') },
            ],
          ],
        ],
      },
    ]);
    await accountant.call('model.account.move.post', [byHand]);
    for (const options of [[], ['--full']]) {
      const { code, E7 } = await reconcileErp(...options);
      expect(code).toBe(1);
      expect(E7.documents).toMatchObject([
        { document: expect.stringMatching(/^ERP entry /), difference: '1.00' },
        { document: 'account 1700', difference: '1.00' },
      ]);
    }
  });
});
