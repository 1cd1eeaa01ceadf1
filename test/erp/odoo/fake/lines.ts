// Lines of journal entries. Odoo keeps an entry balanced: it adds and removes tax lines, and adds a balancing line.

import type { ModelRules } from './core.ts';
import { cents, type Env, type Values } from './env.ts';
import { userError } from './errors.ts';
import { checkFiscalLocks, checkTaxLock } from './locks.ts';
import { unreconcile } from './reconcile.ts';
import type { Json, Row } from './store.ts';

const fiscalFields = ['balance', 'tax_ids', 'tax_tag_ids', 'account_id', 'journal_id', 'currency_id', 'partner_id'];
const taxFields = ['balance', 'tax_ids', 'tax_tag_ids'];
/** If one of these fields changes, Odoo recomputes the side of the tax report on which a line counts. */
const invertFields = ['tax_ids', 'tax_repartition_line_id', 'debit', 'credit', 'balance', 'tax_tag_ids'];
const balancing = 'Automatic Balancing Line';

function linesOf(env: Env, move: number): Row[] {
  return env.store.rows('account.move.line').filter((line) => line.move_id === move);
}

export function isBalanced(env: Env, move: number): boolean {
  return cents(linesOf(env, move).reduce((sum, { balance }) => sum + (balance as number), 0)) === 0;
}

/**
 * Runs a change of entries, and then Odoo's sync: taxes, the balancing line and the check of the balance. The context
 * can skip taxes and balancing line. Inside another change, only the outer one syncs.
 */
export function synced<Result>(env: Env, work: () => { result: Result; moves: readonly number[] }): Result {
  const { core } = env;
  if (core.syncing !== null) {
    const { result, moves } = work();
    for (const id of moves) core.syncing.add(id);
    return result;
  }
  const touched = new Set<number>();
  core.syncing = touched;
  const hadTaxes = new Set<number>();
  for (const line of env.store.rows('account.move.line')) {
    if ((line.tax_ids as number[]).length > 0) hadTaxes.add(line.move_id as number);
  }
  try {
    const { result, moves } = work();
    for (const id of moves) touched.add(id);
    for (const id of touched) {
      core.touched.add(id);
      const move = env.store.get('account.move', id);
      if (move === undefined) continue;
      if (move.state !== 'posted' && !env.context.skip_invoice_sync) sync(env, move, hadTaxes.has(id));
      if (!isBalanced(env, id)) throw unbalanced(env, move);
    }
    return result;
  } finally {
    core.syncing = null;
  }
}

function sync(env: Env, move: Row, hadTaxes: boolean): void {
  const lines = linesOf(env, move.id);
  const hasTaxes = lines.some(({ tax_ids: taxes }) => (taxes as number[]).length > 0);
  const taxLines = lines.filter(({ tax_repartition_line_id: part }) => Boolean(part));
  if (!hasTaxes) {
    // Odoo 17 treats an entry with a tax line and without taxes as if its taxes had just been removed.
    if (env.version === 17 ? taxLines.length === 0 : !hadTaxes) return;
    for (const { id } of taxLines) env.remove('account.move.line', id);
    if (env.version !== 17) for (const line of linesOf(env, move.id)) change(env, line, { tax_tag_ids: [] });
  } else if (taxLines.length === 0) addTaxLines(env, move, lines);
  const difference = cents(linesOf(env, move.id).reduce((sum, { balance }) => sum + (balance as number), 0));
  if (difference === 0) return;
  const name = env.say(balancing);
  const existing = linesOf(env, move.id).find((line) => line.name === name);
  const amounts = amountsOf({ balance: cents(((existing?.balance as number | undefined) ?? 0) - difference) });
  if (existing !== undefined) change(env, existing, amounts);
  else {
    const company = env.store.get('res.company', move.company_id as number);
    insert(env, move, { account_id: company?.account_journal_suspense_account_id ?? false, name, ...amounts });
  }
}

/** Computes the taxes of lines and adds a tax line for each. */
function addTaxLines(env: Env, move: Row, lines: readonly Row[]): void {
  const made = new Map<number, Values>();
  for (const line of lines) {
    for (const taxId of line.tax_ids as number[]) {
      const tax = env.store.get('account.tax', taxId);
      const balance = line.balance as number;
      const isRefund = balance > 0 === (tax?.type_tax_use === 'sale');
      const parts = env.store
        .rows('account.tax.repartition.line')
        .filter((part) => part.tax_id === taxId && part.document_type === (isRefund ? 'refund' : 'invoice'));
      const base = parts.find((part) => part.repartition_type === 'base');
      change(env, line, { tax_tag_ids: (base?.tag_ids ?? []) as number[] });
      for (const part of parts.filter((one) => one.repartition_type === 'tax')) {
        const before = (made.get(part.id)?.balance as number | undefined) ?? 0;
        const of = (made.get(part.id)?.tax_base_amount as number | undefined) ?? 0;
        made.set(part.id, {
          ...{ account_id: part.account_id || line.account_id || false, name: tax?.name ?? false },
          ...{ tax_repartition_line_id: part.id, tax_tag_ids: part.tag_ids ?? [] },
          balance: cents(before + (balance * (tax?.amount as number)) / 100),
          tax_base_amount: cents(of + (env.version === 19 ? balance : Math.abs(balance))),
        });
      }
    }
  }
  for (const values of made.values()) {
    if (values.balance !== 0) insert(env, move, { ...values, ...amountsOf(values), display_type: 'tax' });
  }
}

/** Adds a line that Odoo created. */
function insert(env: Env, move: Row, values: Values): void {
  const id = env.store.nextId('account.move.line');
  const at = env.core.nowText();
  const row: Row = {
    ...{ id, move_id: move.id, tax_ids: [], tax_tag_ids: [], partner_id: false, display_type: 'product' },
    ...{ currency_id: move.currency_id ?? false, create_date: at, write_date: at, create_uid: env.user },
    ...values,
  };
  env.store.put('account.move.line', { ...row, tax_tag_invert: invertOf(env, row) });
  settleResidual(env, id);
}

function change(env: Env, line: Row, values: Values): void {
  const row = env.store.get('account.move.line', line.id) ?? line;
  env.store.put('account.move.line', { ...row, ...values });
  settleResidual(env, line.id);
}

function settleResidual(env: Env, id: number): void {
  const line = env.store.get('account.move.line', id);
  if (line === undefined || line.matching_number) return;
  const account = env.store.get('account.account', line.account_id as number);
  const isOpen = account?.reconcile === true || account?.account_type === 'asset_cash';
  const residual = isOpen ? (line.balance as number) : 0;
  env.store.put('account.move.line', { ...line, amount_residual: residual, reconciled: false });
}

function unbalanced(env: Env, move: Row): Error {
  if (env.version === 19) return userError(env.say('The entry is not balanced.'));
  const lines = linesOf(env, move.id);
  const total = (field: string) =>
    `${cents(lines.reduce((sum, line) => sum + (line[field] as number), 0)).toFixed(2)} €`;
  const journal = env.store.get('account.journal', move.journal_id as number);
  return userError(
    `An error has occurred.\n\nThe move (${env.core.displayName(env, 'account.move', move)}) is not balanced.\n` +
      `The total of debits equals ${total('debit')} and the total of credits equals ${total('credit')}.\n` +
      `You might want to specify a default account on journal "${journal?.name}" to automatically balance each move.`,
  );
}

/** Computes debit, credit and balance, of which one or two are given. */
function amountsOf(values: Values, before?: Row): Values {
  const has = (field: string) => field in values;
  let balance: number;
  if (has('debit') || has('credit')) {
    const side = (field: string) => Number(values[field] ?? (has('debit') && has('credit') ? 0 : before?.[field]) ?? 0);
    balance = cents(side('debit') - side('credit'));
  } else if (has('balance') || has('amount_currency')) balance = cents(values.balance ?? values.amount_currency ?? 0);
  else return before === undefined ? { debit: 0, credit: 0, balance: 0, amount_currency: 0 } : {};
  return { balance, amount_currency: balance, debit: Math.max(0, balance), credit: Math.max(0, -balance) };
}

/** The side of a tax report on which a line's tags count (17, 18). */
function invertOf(env: Env, line: Values): boolean {
  const part = env.store.get('account.tax.repartition.line', (line.tax_repartition_line_id || 0) as number);
  const [first] = (line.tax_ids ?? []) as number[];
  const taxId = (part?.tax_id as number | undefined) ?? first;
  if (taxId === undefined) return false;
  const isSale = env.store.get('account.tax', taxId)?.type_tax_use === 'sale';
  const isRefund = part === undefined ? (line.balance as number) > 0 === isSale : part.document_type === 'refund';
  return isSale !== isRefund;
}

/** Adds default values to a new line. */
function completed(env: Env, values: Values): Values {
  const account = env.store.get('account.account', values.account_id as number);
  if (env.store.get('account.account', (values.account_id || 0) as number) === undefined) throw misleading(env);
  const move = env.store.get('account.move', values.move_id as number);
  const own = (account?.tax_ids ?? []) as number[];
  const takesTaxes = env.version !== 19 && !('tax_ids' in values) && own.length > 0;
  const full: Values = {
    ...{ display_type: values.tax_repartition_line_id ? 'tax' : 'product', currency_id: move?.currency_id ?? false },
    ...values,
    ...amountsOf(values),
    ...(takesTaxes ? { tax_ids: [[6, 0, own]] } : {}),
  };
  if (env.version < 19 && !('tax_tag_invert' in values)) {
    const taxes = takesTaxes ? own : idsIn(values.tax_ids);
    full.tax_tag_invert = invertOf(env, { ...full, tax_ids: taxes });
  }
  if (!('analytic_distribution' in values)) full.analytic_distribution = filledIn(env, move, account, values);
  return full;
}

function idsIn(commands: Json | undefined): number[] {
  return (Array.isArray(commands) ? commands : []).flatMap((one) => (Array.isArray(one) ? (one[2] as number[]) : []));
}

/** The analytic distribution of the model for the line's account or partner. */
function filledIn(env: Env, move: Row | undefined, account: Row | undefined, line: Values): Json {
  for (const model of env.store.rows('account.analytic.distribution.model')) {
    const { account_prefix: prefix, partner_id: partner, company_id: company } = model;
    const fits =
      (!company || company === move?.company_id) &&
      (!prefix ||
        String(prefix)
          .split(/[;,]\s*/)
          .some((one) => String(account?.code).startsWith(one))) &&
      (!partner || partner === line.partner_id);
    if (fits && (prefix || partner)) return model.analytic_distribution ?? false;
  }
  return false;
}

/** Odoo reports a broken foreign key with the text of another error. */
function misleading(env: Env): Error {
  return userError(
    `${env.say('The operation cannot be completed: another model requires the record being deleted. If possible, archive it instead.')}\n\n` +
      'Model: Journal Item (account.move.line)\nConstraint: account_move_line_account_id_fkey',
  );
}

export const lineRules: ModelRules = {
  create(env, list, make) {
    return synced(env, () => {
      const ids = make(list.map((values) => completed(env, values)));
      for (const id of ids) {
        settleResidual(env, id);
        checkTaxLock(env, env.store.get('account.move.line', id) as Row);
      }
      return { result: ids, moves: list.map(({ move_id: move }) => move as number) };
    });
  },
  write(env, ids, values, next) {
    const moves = ids.map((id) => env.store.get('account.move.line', id)?.move_id as number);
    synced(env, () => {
      for (const id of ids) writeLine(env, env.store.get('account.move.line', id) as Row, values, next);
      return { result: undefined, moves };
    });
  },
  unlink(env, ids, next) {
    const lines = ids.map((id) => env.store.get('account.move.line', id) as Row);
    for (const line of lines) {
      if (line.matching_number && env.version !== 19) throw reconciled(env, line);
      const move = env.store.get('account.move', line.move_id as number);
      if (move?.state !== 'posted') continue;
      checkFiscalLocks(env, move);
      checkTaxLock(env, line);
      throw userError(
        env.say(
          "You can't delete a posted journal item. Don’t play games with your accounting records; reset the journal entry to draft before deleting it.",
        ),
      );
    }
    unreconcile(env, lines);
    synced(env, () => {
      next(ids);
      return { result: undefined, moves: lines.map(({ move_id: move }) => move as number) };
    });
  },
};

function writeLine(env: Env, line: Row, values: Values, next: (ids: readonly number[], values: Values) => void): void {
  const amounts = amountsOf(values, line);
  const full = { ...values, ...amounts };
  const willChange = (field: string) => {
    if (!(field in full)) return false;
    const value = env.fieldOf('account.move.line', field).type === 'many2many' ? full[field] || [] : full[field];
    if (!Array.isArray(value)) return value !== (line[field] ?? false);
    return JSON.stringify(idsIn(value)) !== JSON.stringify(line[field] ?? []);
  };
  if (!Object.keys(full).some(willChange)) {
    recomputeInvert(env, line.id, full);
    return;
  }
  const move = env.store.get('account.move', line.move_id as number) as Row;
  if (move.state === 'posted') {
    if (willChange('tax_ids') || willChange('tax_repartition_line_id')) {
      throw userError(
        env.say(
          'You cannot modify the taxes related to a posted journal item, you should reset the journal entry to draft to do so.',
        ),
      );
    }
    if (fiscalFields.some(willChange)) checkFiscalLocks(env, move);
    if (taxFields.some(willChange)) checkTaxLock(env, line);
  }
  const breaking = ['account_id', 'balance', 'currency_id', ...(env.version === 19 ? [] : ['partner_id'])];
  if (line.matching_number && breaking.some(willChange)) {
    if (env.version !== 19) throw reconciled(env, line);
    // Odoo 19 removes the match silently.
    unreconcile(env, [line]);
  }
  next([line.id], full);
  const isDraft = move.state !== 'posted' && env.version !== 17 && !env.context.skip_invoice_sync;
  if (isDraft && ['account_id', 'partner_id', 'balance'].some(willChange)) dropTaxLines(env, move.id);
  recomputeInvert(env, line.id, full);
  settleResidual(env, line.id);
}

/** If such a change of a draft names no taxes, Odoo 18 and 19 remove its tax line and then find it unbalanced. */
function dropTaxLines(env: Env, move: number): void {
  const lines = linesOf(env, move);
  if (lines.some(({ tax_ids: taxes }) => (taxes as number[]).length > 0)) return;
  for (const { id, tax_repartition_line_id: part } of lines) if (part) env.remove('account.move.line', id);
}

/** Odoo also recomputes a line's side if other tax fields are written. */
function recomputeInvert(env: Env, id: number, values: Values): void {
  const line = env.store.get('account.move.line', id);
  if (env.version === 19 || line === undefined || !invertFields.some((field) => field in values)) return;
  env.store.put('account.move.line', { ...line, tax_tag_invert: invertOf(env, line) });
}

function reconciled(env: Env, line: Row): Error {
  const move = env.store.get('account.move', line.move_id as number);
  return userError(
    `${env.say('You cannot do this modification on a reconciled journal entry. You can just change some non legal fields or you must unreconcile first.')}\n` +
      `Journal Entry (id): ${move?.name} (${move?.id})`,
  );
}
