// Journal entries of the fake Odoo. Like Odoo, it also changes what no request asks for: posting changes dates, and
// Odoo 17 removes tax lines.

import type { ModelRules } from './core.ts';
import type { Env, Values } from './env.ts';
import { accessError, userError } from './errors.ts';
import { isBalanced, synced } from './lines.ts';
import { accountingDate, affectsTax, checkFiscalLocks, checkTaxLock, violations } from './locks.ts';
import { fitsPeriod, highestOf, isEndOfChain, isNumber, nextNumber } from './numbers.ts';
import { unreconcile } from './reconcile.ts';
import { checkAccess, groupsOf, parentsOf } from './rights.ts';
import type { Row } from './store.ts';

/** The fields of a posted entry that Odoo 18 and 19 protect. */
const unmodifiable = new Set([
  ...['invoice_line_ids', 'line_ids', 'invoice_date', 'date', 'partner_id', 'invoice_payment_term_id', 'currency_id'],
  ...['fiscal_position_id', 'invoice_cash_rounding_id'],
]);

export function linesOf(env: Env, move: number): Row[] {
  return env.store.rows('account.move.line').filter((line) => line.move_id === move);
}

export const moveRules: ModelRules = {
  create(env, list, make) {
    if (list.some(({ state }) => state === 'posted')) {
      throw userError(
        env.say('You cannot create a move already in the posted state. Please create a draft move and post it after.'),
      );
    }
    return synced(env, () => {
      const full = list.map((values) => ({ ...defaultsOf(env, values), ...values }));
      const ids = make(full);
      for (const id of ids) numberDraft(env, id);
      env.core.afterCreate(env, ids);
      return { result: ids, moves: ids };
    });
  },
  write(env, ids, values, next) {
    for (const id of ids) checkWrite(env, env.store.get('account.move', id) as Row, values);
    synced(env, () => {
      next(ids, values);
      if ('date' in values || 'state' in values) {
        for (const id of ids) {
          for (const line of linesOf(env, id)) env.touch('account.move.line', line.id);
          checkPosted(env, id);
          numberDraft(env, id);
        }
      } else if ('ref' in values || 'name' in values) {
        for (const id of ids) for (const line of linesOf(env, id)) env.touch('account.move.line', line.id);
      }
      return { result: undefined, moves: ids };
    });
  },
  unlink(env, ids, next) {
    const moves = ids.map((id) => env.store.get('account.move', id) as Row);
    env.core.onUnlink(moves);
    const quiet = env.with({ skip_invoice_sync: true });
    for (const id of ids) {
      const lines = linesOf(env, id);
      if (lines.length > 0)
        quiet.unlink(
          'account.move.line',
          lines.map((line) => line.id),
        );
    }
    const isAdministrator = groupsOf(env).has('account.group_account_manager');
    if (!isAdministrator && !moves.every((move) => isEndOfChain(env, move))) {
      throw userError(
        env.say(
          'You cannot delete this entry, as it has already consumed a sequence number and is not the last one in the chain. You should probably revert it instead.',
        ),
      );
    }
    next(ids);
  },
};

function defaultsOf(env: Env, values: Values): Values {
  const journals = env.store.rows('account.journal');
  const journal =
    journals.find(({ id }) => id === values.journal_id) ??
    journals.find((one) => one.type === 'general' && parentsOf(env, env.company).includes(one.company_id as number));
  const owner = (journal?.company_id as number | undefined) ?? env.company;
  // A branch uses the journals of its parent company.
  const company = parentsOf(env, env.company).includes(owner) ? env.company : owner;
  const currency = env.store.get('res.company', company)?.currency_id ?? false;
  return {
    ...{ state: 'draft', move_type: 'entry', auto_post: 'no', posted_before: false, ref: false, name: false },
    ...{ journal_id: journal?.id ?? false, company_id: company, currency_id: currency },
    date: env.core.nowText().slice(0, 10),
  };
}

/** Odoo 17 numbers the first draft of a period at once; Odoo 18 and 19 do not number drafts. */
function numberDraft(env: Env, id: number): void {
  const move = env.store.get('account.move', id);
  if (env.version !== 17 || move?.state !== 'draft' || fitsPeriod(env, move)) return;
  if (isNumber(move.name) && move.posted_before) return;
  const { number, isFirst } = nextNumber(env, move);
  env.store.put('account.move', { ...move, name: isFirst ? number : '/' });
}

function checkWrite(env: Env, move: Row, values: Values): void {
  if (move.state !== 'posted') return;
  const changes = (field: string) => field in values && values[field] !== move[field];
  if (changes('name') || changes('date') || ('state' in values && values.state !== 'posted')) checkPosted(env, move.id);
  const state = values.state ?? move.state;
  const readonly = Object.keys(values).filter((field) => unmodifiable.has(field));
  if (env.version === 17 || env.context.skip_readonly_check || state !== 'posted' || readonly.length === 0) return;
  throw userError(env.say('You cannot modify the following readonly fields on a posted move: %s', readonly.join(', ')));
}

function checkPosted(env: Env, id: number): void {
  const move = env.store.get('account.move', id);
  if (move?.state !== 'posted') return;
  checkFiscalLocks(env, move);
  for (const line of linesOf(env, id)) checkTaxLock(env, line);
}

/** `action_post`: numbers drafts, and changes their dates if their period is locked. */
export function post(env: Env, ids: readonly number[]): false {
  if (ids.length === 0) return false;
  const mayPost = env.isSuper || groupsOf(env).has('account.group_account_invoice');
  if (env.version === 17) checkAccess(env, 'account.move', 'read');
  if (!mayPost) throw accessError(env.say("You don't have the access rights to post an invoice."));
  const moves = env.browse('account.move', ids, 'write');
  for (const move of moves) checkPostable(env, move);
  for (const { id } of moves) {
    let move = env.store.get('account.move', id) as Row;
    const hasTax = linesOf(env, id).some((line) => affectsTax(env, line));
    const locks = violations(env, move, move.date as string, hasTax);
    if (locks.length > 0) {
      const highest = highestOf(env, move);
      env.store.put('account.move', { ...move, date: accountingDate(env, locks, highest) });
      move = env.store.get('account.move', id) as Row;
    }
    const name = fitsPeriod(env, move) ? move.name : nextNumber(env, move).number;
    env.store.put('account.move', { ...move, name: name as string });
    env.with({ skip_readonly_check: true }).write('account.move', [id], { state: 'posted', posted_before: true });
  }
  return false;
}

function checkPostable(env: Env, move: Row): void {
  if (move.state !== 'draft') {
    throw userError(env.say('The entry %s (id %s) must be in draft.', String(move.name), move.id));
  }
  const lines = linesOf(env, move.id);
  if (lines.length === 0) {
    throw userError(
      env.say(env.version === 19 ? "Even magicians can't post nothing!" : 'You need to add a line before posting.'),
    );
  }
  const journal = env.store.get('account.journal', move.journal_id as number);
  if (journal?.active === false) {
    throw userError(env.say('You cannot post an entry in an archived journal (%s)', String(journal.name)));
  }
  const accounts = lines.map(({ account_id: id }) => env.store.get('account.account', id as number));
  if (accounts.some((account) => account?.deprecated === true || account?.active === false)) {
    const kind = env.version === 19 ? 'an archived' : 'a deprecated';
    throw userError(env.say(`A line of this move is using ${kind} account, you cannot post it.`));
  }
  if (!isBalanced(env, move.id)) throw userError('The entry is not balanced.');
}

export function backToDraft(env: Env, ids: readonly number[]): null {
  const moves = env.browse('account.move', ids, 'write');
  if (moves.some(({ state }) => state !== 'posted' && state !== 'cancel')) {
    throw userError(env.say('Only posted/cancelled journal entries can be reset to draft.'));
  }
  for (const { id, journal_id: journal, state } of moves) {
    if (state === 'posted' && env.store.get('account.journal', journal as number)?.restrict_mode_hash_table) {
      throw userError(env.say('You cannot modify a posted entry of this journal because it is in strict mode.'));
    }
    // Odoo 19 keeps the matches of a draft.
    if (env.version !== 19) unreconcile(env, linesOf(env, id));
    env.write('account.move', [id], { state: 'draft' });
  }
  return null;
}

export function cancel(env: Env, ids: readonly number[]): null {
  const posted = env.browse('account.move', ids, 'write').filter(({ state }) => state === 'posted');
  if (posted.length > 0)
    backToDraft(
      env,
      posted.map(({ id }) => id),
    );
  for (const id of ids) {
    if (env.store.get('account.move', id)?.state !== 'draft') {
      throw userError(env.say('Only draft journal entries can be cancelled.'));
    }
    env.write('account.move', [id], { auto_post: 'no', state: 'cancel' });
  }
  return null;
}
