// A company in the fake Odoo with everything that vetledger needs there, and its books as an accountant reads them.

import { randomUUID } from 'node:crypto';
import type { OdooConfig } from '../../../../src/config/erp.ts';
import type { Clock } from '../../../../src/domain/clock.ts';
import { Money } from '../../../../src/domain/money.ts';
import type { OdooTransport } from '../../../../src/erp/targets/odoo/connection.ts';
import type { HeldEntry, HeldLine } from '../../fake/server.ts';
import type { Values } from './env.ts';
import { FakeOdoo } from './index.ts';
import type { OdooVersion } from './schema.ts';
import type { Row } from './store.ts';

export interface FakeCompanyOptions {
  version: OdooVersion;
  clock: Pick<Clock, 'now'>;
  protocol?: OdooConfig['protocol'];
  /** True if vetledger's user may search external ids. */
  mayLookUp?: boolean;
}

/** The groups of vetledger's user: Billing, and the creation of contacts. */
export const apiGroups = ['base.group_user', 'account.group_account_invoice', 'base.group_partner_manager'];
export const apiLogin = 'vetledger';

const accounts: [code: string, name: string, type: string][] = [
  ['1700', 'Trade receivables', 'asset_receivable'],
  ['1910', 'Bank clearing', 'asset_current'],
  ['2400', 'Prepayments of clients', 'liability_current'],
  ['2931', 'VAT 25.5 %', 'liability_current'],
  ['3000', 'Consultations', 'income'],
  ['3010', 'Surgery', 'income'],
  ['3020', 'Laboratory', 'income'],
];

const matchedAccounts = ['1700', '2400'];

export class FakeCompany {
  readonly odoo: FakeOdoo;
  readonly config: OdooConfig;
  /** The ids of entries that accountants copied from posted entries. */
  readonly copies = new Set<number>();
  /** The tags of the tax, with the part of the report that they count. */
  readonly #tags = new Map<number, { part: 'base' | 'tax'; isNegated: boolean }>();

  constructor({ version, clock, protocol = 'jsonrpc', mayLookUp = true }: FakeCompanyOptions) {
    this.odoo = new FakeOdoo({ version, clock });
    const secret = `secret ${randomUUID()}`;
    const rights: Record<string, string> = mayLookUp ? { 'ir.model.data': 'r' } : {};
    this.odoo.addUser(apiLogin, secret, apiGroups, rights);
    const key = `key ${randomUUID()}`;
    this.odoo.addKey(apiLogin, key, version === 17 ? false : '2027-03-01 00:00:00');
    const isKey = protocol === 'json2';
    this.config = {
      ...{ kind: 'odoo', url: 'http://odoo.invalid', database: this.odoo.database, company: null, from: null },
      ...{ auto: true, post: 'posted', ownedAccounts: [], closeSourcePeriods: false, timeoutSeconds: 60, protocol },
      ...{ user: isKey ? '' : apiLogin, password: isKey ? key : secret },
    };
    this.#addBooks();
  }

  #addBooks(): void {
    for (const [code, name, type] of accounts) {
      this.make('account.account', { code, name, account_type: type, reconcile: matchedAccounts.includes(code) });
    }
    this.make('account.journal', { code: 'SALES', name: 'Veterinary sales', type: 'general' });
    this.make('res.partner', { name: 'Clients of the practice', ref: 'CASH' });
    const plan = this.make('account.analytic.plan', { name: 'project' });
    for (const code of ['east', 'west']) this.make('account.analytic.account', { code, name: code, plan_id: plan });
    this.#addTax('S25', 25.5, '2931');
  }

  /**
   * Adds a tax with report tags. Up to Odoo 18, invoices and refunds have different tags; from 19 on they share them.
   */
  #addTax(name: string, amount: number, account: string): void {
    const hasSigns = this.odoo.version < 19;
    const tag = (part: 'base' | 'tax', isRefund: boolean) => {
      const sign = hasSigns ? (isRefund ? '-' : '+') : '';
      const values = { name: `${sign}${name} ${part}`, applicability: 'taxes' };
      const id = this.make('account.account.tag', { ...values, ...(hasSigns ? { tax_negate: isRefund } : {}) });
      this.#tags.set(id, { part, isNegated: hasSigns && isRefund });
      return id;
    };
    const base = tag('base', false);
    const tax = tag('tax', false);
    const [refundBase, refundTax] = hasSigns ? [tag('base', true), tag('tax', true)] : [base, tax];
    const lines = (baseTag: number, taxTag: number) => [
      [0, 0, { repartition_type: 'base', tag_ids: [[6, 0, [baseTag]]] }],
      [
        0,
        0,
        {
          repartition_type: 'tax',
          account_id: this.idOf('account.account', 'code', account),
          tag_ids: [[6, 0, [taxTag]]],
        },
      ],
    ];
    this.make('account.tax', {
      ...{ name, amount, type_tax_use: 'sale' },
      ...{ invoice_repartition_line_ids: lines(base, tax), refund_repartition_line_ids: lines(refundBase, refundTax) },
    });
  }

  make(model: string, values: Values): number {
    return this.odoo.inside().create(model, [values])[0] ?? 0;
  }

  /** The id of the record with this value in the field. */
  idOf(model: string, field: string, value: string): number {
    const found = this.odoo.core.store.rows(model).find((row) => row[field] === value);
    if (found === undefined) throw new Error(`no ${model} ${value}`);
    return found.id;
  }

  get company(): Row {
    return this.odoo.core.store.rows('res.company')[0] as Row;
  }

  /** Closes days of the fiscal year for all users. Throws if Odoo 17 refuses it because of drafts. */
  lock(through: string, field = 'fiscalyear_lock_date'): void {
    this.odoo.inside().write('res.company', [this.company.id], { [field]: through });
  }

  unlock(): void {
    const row = this.company;
    const fields = ['fiscalyear_lock_date', 'tax_lock_date', 'period_lock_date', 'sale_lock_date'];
    const known = fields.filter((field) => row[field]);
    this.odoo.inside().write('res.company', [row.id], Object.fromEntries(known.map((field) => [field, false])));
  }

  /** Every journal entry in the form that the judge compares: VAT as the tax report counts it, debits positive. */
  held(): HeldEntry[] {
    const { store } = this.odoo.core;
    const byMove = Map.groupBy(store.rows('account.move.line'), ({ move_id: move }) => move as number);
    return store.rows('account.move').map((move) => {
      const ref = String(move.ref || '');
      const [, description = ref, unitId = ''] = /^(.*) · (\S+) \[[A-Z2-7]{20}\]$/s.exec(ref) ?? [];
      const external = store
        .rows('ir.model.data')
        .find((row) => row.model === 'account.move' && row.res_id === move.id && row.module === 'vetledger');
      const journal = store.get('account.journal', move.journal_id as number);
      return {
        ...{ id: String(move.id), key: external === undefined ? null : String(external.name), unitId, description },
        ...{ number: String(move.name), state: move.state === 'posted' ? 'posted' : 'draft', date: String(move.date) },
        ...{ journal: String(journal?.code), createdAtMs: 0, visibleAtMs: 0, postedAtMs: null },
        lines: (byMove.get(move.id) ?? []).map((line) => this.#heldLine(line)),
      };
    });
  }

  #heldLine(line: Row): HeldLine {
    const { store } = this.odoo.core;
    const amount = new Money(String(line.balance));
    const partner = store.get('res.partner', (line.partner_id || 0) as number);
    const distribution = (line.analytic_distribution || {}) as Record<string, number>;
    const codes = Object.keys(distribution).map((id) =>
      String(store.get('account.analytic.account', Number(id))?.code),
    );
    const vat = ((line.tax_tag_ids ?? []) as number[]).flatMap((id) => {
      const tag = this.#tags.get(id);
      if (tag === undefined) return [];
      // A credit counts as positive if line and tag have different signs (up to 18), or by the report's formula (19).
      const isCounted = this.odoo.version === 19 || Boolean(line.tax_tag_invert) !== tag.isNegated;
      return [{ code: 'S25', part: tag.part, amount: isCounted ? amount : amount.negated() }];
    });
    return {
      ...{ id: String(line.id), amount, vat, matched: (line.matching_number || null) as string | null },
      account: String(store.get('account.account', line.account_id as number)?.code ?? ''),
      party: partner === undefined ? null : String(partner.ref || partner.name),
      dimensions: codes.length === 0 ? {} : { project: codes.join(', ') },
    };
  }
}

/** A transport to the fake that takes no time and has no faults. */
export function directWay(odoo: FakeOdoo): OdooTransport {
  return {
    async send(request, { signal }) {
      signal.throwIfAborted();
      const { status, headers, body } = odoo.handle(request);
      return { status, text: body, retryAfter: headers['retry-after'] ?? null, ids: { request: 'fake' } };
    },
    close: () => undefined,
  };
}
