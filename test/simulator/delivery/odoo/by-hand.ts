// Changes that people make to posted entries in Odoo. Each changes a delivered entry, so the comparison of the books must report it.

import type { Rng } from '../../../../sandbox/src/rng.ts';
import type { HeldEntry } from '../../../erp/fake/server.ts';
import type { FakeCompany } from '../../../erp/odoo/fake/company.ts';
import { duplicate, reverseEntry } from '../../../erp/odoo/fake/copies.ts';
import type { Env } from '../../../erp/odoo/fake/env.ts';
import { backToDraft, post } from '../../../erp/odoo/fake/moves.ts';
import type { Row } from '../../../erp/odoo/fake/store.ts';

interface Change {
  what: string;
  /** The versions of Odoo that allow the change. */
  isPossible(company: FakeCompany): boolean;
  make(env: Env, move: number, company: FakeCompany): void;
}

const line = 'account.move.line';
const everywhere = () => true;

function linesOf(env: Env, move: number): Row[] {
  return env.store.rows(line).filter((row) => row.move_id === move);
}

function onAccount(env: Env, company: FakeCompany, move: number, ...codes: string[]): Row {
  const ids = codes.map((code) => company.idOf('account.account', 'code', code));
  const found = linesOf(env, move).find((row) => ids.includes(row.account_id as number));
  if (found === undefined) throw new Error(`the entry has no line on ${codes.join(' or ')}`);
  return found;
}

const income = ['3000', '3010', '3020'];

const changes: Change[] = [
  {
    what: 'the date',
    isPossible: ({ odoo }) => odoo.version === 17,
    make: (env, move) => env.write('account.move', [move], { date: '2026-03-17' }),
  },
  {
    what: 'the account of its income',
    isPossible: everywhere,
    make(env, move, company) {
      const { id } = onAccount(env, company, move, ...income);
      env.write(line, [id], { account_id: company.idOf('account.account', 'code', '450000') });
    },
  },
  {
    what: 'the partner',
    isPossible: everywhere,
    make: (env, move, company) => env.write(line, [onAccount(env, company, move, '1700').id], { partner_id: false }),
  },
  {
    what: 'the tags of its base',
    isPossible: everywhere,
    make: (env, move, company) =>
      env.write(line, [onAccount(env, company, move, ...income).id], { tax_tag_ids: [[5, 0, 0]] }),
  },
  {
    what: 'the sign of its tax',
    isPossible: ({ odoo }) => odoo.version < 19,
    make(env, move, company) {
      const { id, tax_tag_invert: isInverted } = onAccount(env, company, move, '2931');
      env.write(line, [id], { tax_tag_invert: !isInverted });
    },
  },
  {
    what: 'the analytic account',
    isPossible: everywhere,
    make(env, move, company) {
      const { id, analytic_distribution: before } = onAccount(env, company, move, ...income);
      const east = company.idOf('account.analytic.account', 'code', 'east');
      const isEast = JSON.stringify(before) === `{"${east}":100}`;
      env.write(line, [id], { analytic_distribution: isEast ? false : { [east]: 100 } });
    },
  },
  {
    what: 'the due date',
    isPossible: everywhere,
    make: (env, move, company) =>
      env.write(line, [onAccount(env, company, move, '1700').id], { date_maturity: '2026-12-24' }),
  },
  {
    what: 'a label',
    isPossible: everywhere,
    make: (env, move, company) => env.write(line, [onAccount(env, company, move, '1700').id], { name: 'by hand' }),
  },
  {
    what: 'its effect, by Odoo’s own reversal',
    isPossible: everywhere,
    make: (env, move, company) =>
      void company.copies.add(reverseEntry(env, move, String(env.store.get('account.move', move)?.date), 'by hand')),
  },
  {
    what: 'its effect, by a duplicate',
    isPossible: everywhere,
    make: (env, move, company) => void company.copies.add(duplicate(env, move)),
  },
  {
    what: 'its state, back to draft',
    isPossible: everywhere,
    make: (env, move) => backToDraft(env, [move]),
  },
  {
    what: 'its existence',
    isPossible: everywhere,
    make(env, move) {
      backToDraft(env, [move]);
      env.unlink('account.move', [move]);
    },
  },
  {
    what: 'its amounts, as a draft that is posted again',
    isPossible: everywhere,
    make(env, move, company) {
      backToDraft(env, [move]);
      const [debit, credit] = [onAccount(env, company, move, '1700'), onAccount(env, company, move, ...income)];
      const more = (row: Row, by: number) => [1, row.id, { balance: Number(row.balance) + by }];
      env.write('account.move', [move], { line_ids: [more(debit, 1), more(credit, -1)] });
      post(env, [move]);
    },
  },
];

/** Changes some entries, each in a way that this version of Odoo allows. Returns the way for each entry's unit. */
export function tamper(company: FakeCompany, rng: Rng, entries: readonly HeldEntry[]): Map<string, string> {
  const env = company.odoo.inside({ skip_invoice_sync: true });
  const done = new Map<string, string>();
  const left = [...entries];
  for (let n = rng.int(1, 3); n > 0 && left.length > 0; n--) {
    const entry = rng.pick(left);
    left.splice(left.indexOf(entry), 1);
    const { what, make } = rng.pick(changes.filter(({ isPossible }) => isPossible(company)));
    make(env, Number(entry.id), company);
    done.set(entry.unitId, what);
  }
  return done;
}
