// Matching of lines: each pair of a debit and a credit is a partial match; lines that settle each other get a full
// match.

import { cents, type Env } from './env.ts';
import { userError } from './errors.ts';
import type { Row } from './store.ts';

const lineModel = 'account.move.line';
const partialModel = 'account.partial.reconcile';

function line(env: Env, id: number): Row {
  return env.store.get(lineModel, id) as Row;
}

export function reconcile(env: Env, ids: readonly number[]): null {
  const lines = env.browse(lineModel, ids, 'write');
  if (lines.length === 0) return null;
  if (lines.some(({ reconciled }) => reconciled)) {
    throw userError(env.say('You are trying to reconcile some entries that are already reconciled.'));
  }
  const isPosted = ({ move_id: move }: Row) => env.store.get('account.move', move as number)?.state === 'posted';
  if (env.version !== 19 && !lines.every(isPosted)) {
    throw userError(env.say('You can only reconcile posted entries.'));
  }
  const accounts = [...new Set(lines.map(({ account_id: account }) => account as number))];
  const named = accounts.map((id) => env.nameOf('account.account', id));
  if (accounts.length > 1) {
    throw userError(env.say('Entries are not from the same account: %s', named.join(', ')));
  }
  const account = env.store.get('account.account', accounts[0] ?? 0);
  if (account?.reconcile !== true && account?.account_type !== 'asset_cash') {
    throw userError(
      env.say(
        'Account %s does not allow reconciliation. First change the configuration of this account to allow it.',
        named[0] ?? '',
      ),
    );
  }
  pairUp(
    env,
    lines.map(({ id }) => id),
  );
  return null;
}

function pairUp(env: Env, ids: readonly number[]): void {
  const open = (isDebit: boolean) =>
    ids.filter((id) => {
      const residual = line(env, id).amount_residual as number;
      return isDebit ? residual > 0 : residual < 0;
    });
  for (let debit = open(true)[0], credit = open(false)[0]; debit !== undefined && credit !== undefined; ) {
    const amount = Math.min(line(env, debit).amount_residual as number, -(line(env, credit).amount_residual as number));
    const { company_id: company } = env.store.get('account.move', line(env, debit).move_id as number) as Row;
    env
      .sudo()
      .create(partialModel, [{ debit_move_id: debit, credit_move_id: credit, amount, company_id: company ?? false }]);
    for (const [id, part] of [
      [debit, -amount],
      [credit, amount],
    ] as const) {
      const row = line(env, id);
      env.update(lineModel, id, { amount_residual: cents((row.amount_residual as number) + part) });
    }
    [debit, credit] = [open(true)[0], open(false)[0]];
  }
  tell(env, ids);
}

function partialsOf(env: Env, id: number): Row[] {
  return env.store.rows(partialModel).filter((row) => row.debit_move_id === id || row.credit_move_id === id);
}

/** The lines that are matched with the given ones, directly or through others. */
function groupOf(env: Env, ids: readonly number[]): Set<number> {
  const group = new Set(ids);
  for (const id of group) {
    for (const { debit_move_id: debit, credit_move_id: credit } of partialsOf(env, id)) {
      group.add(debit as number);
      group.add(credit as number);
    }
  }
  return group;
}

/** Updates the match fields on the lines of a group. */
function tell(env: Env, ids: readonly number[]): void {
  const group = groupOf(env, ids);
  const partials = [...group].flatMap((id) => partialsOf(env, id));
  const isSettled = [...group].every((id) => line(env, id).amount_residual === 0) && partials.length > 0;
  const [full] = isSettled ? env.sudo().create('account.full.reconcile', [{}]) : [];
  for (const { id } of partials) {
    const row = env.store.get(partialModel, id);
    if (row !== undefined) env.store.put(partialModel, { ...row, full_reconcile_id: full ?? false });
  }
  const first = Math.min(...partials.map(({ id }) => id));
  for (const id of group) {
    const isMatched = partialsOf(env, id).length > 0;
    env.update(lineModel, id, {
      reconciled: isMatched && line(env, id).amount_residual === 0,
      full_reconcile_id: full ?? false,
      matching_number: !isMatched ? false : full === undefined ? `P${first}` : String(full),
    });
  }
}

/** `remove_move_reconcile`: removes every match of the lines. */
export function unreconcile(env: Env, lines: readonly Row[]): null {
  const ids = lines.map(({ id }) => id).filter((id) => partialsOf(env, id).length > 0);
  const group = groupOf(env, ids);
  const gone = new Map(ids.flatMap((id) => partialsOf(env, id)).map((row) => [row.id, row]));
  for (const { id, amount, debit_move_id: debit, credit_move_id: credit, full_reconcile_id: full } of gone.values()) {
    env.remove(partialModel, id);
    if (typeof full === 'number' && env.store.get('account.full.reconcile', full) !== undefined) {
      env.remove('account.full.reconcile', full);
    }
    const back = (one: number, part: number) =>
      env.update(lineModel, one, { amount_residual: cents((line(env, one).amount_residual as number) + part) });
    back(debit as number, amount as number);
    back(credit as number, -(amount as number));
  }
  const done = new Set<number>();
  for (const id of group) {
    if (done.has(id)) continue;
    for (const one of groupOf(env, [id])) done.add(one);
    tell(env, [id]);
  }
  return null;
}
