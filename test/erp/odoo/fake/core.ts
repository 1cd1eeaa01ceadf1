// The core of the fake Odoo: its tables and models, and the rules of each model in addition to the general ones.

import type { Clock } from '../../../../src/domain/clock.ts';
import type { Env, Values } from './env.ts';
import { validationError } from './errors.ts';
import { lineRules } from './lines.ts';
import { checkNewLocks, userLockDate } from './locks.ts';
import { moveRules } from './moves.ts';
import { groups, parentsOf } from './rights.ts';
import { type Field, type Model, type OdooVersion, schemaOf } from './schema.ts';
import { type Json, type Row, Store } from './store.ts';

/** The rules of a model for creating, changing and deleting records. `next` and `make` apply the general rules. */
export interface ModelRules {
  create?(env: Env, list: readonly Values[], make: (list: readonly Values[]) => number[]): number[];
  write?(
    env: Env,
    ids: readonly number[],
    values: Values,
    next: (ids: readonly number[], values: Values) => void,
  ): void;
  unlink?(env: Env, ids: readonly number[], next: (ids: readonly number[]) => void): void;
}

const rules: Record<string, ModelRules> = {
  'account.move': moveRules,
  'account.move.line': lineRules,
  'res.company': {
    write(env, ids, values, next) {
      checkNewLocks(env, ids, values);
      next(ids, values);
    },
  },
  'res.users': {
    create: (env, list, make) =>
      make(
        list.map(({ name = false, lang = 'en_US', ...values }) => {
          const [partner = 0] = env.sudo().create('res.partner', [{ name, lang }]);
          return { ...values, partner_id: partner };
        }),
      ),
    write(env, ids, { name, lang, ...values }, next) {
      next(ids, values);
      const person = { ...(name === undefined ? {} : { name }), ...(lang === undefined ? {} : { lang }) };
      if (Object.keys(person).length === 0) return;
      for (const id of ids) {
        env.sudo().update('res.partner', env.store.get('res.users', id)?.partner_id as number, person);
      }
    },
  },
  'account.tax': { create: (env, list, make) => make(list.map((values) => taxValues(env, values))) },
};

export class FakeCore {
  readonly store = new Store();
  readonly schema: Map<string, Model>;
  readonly version: OdooVersion;
  readonly groupNames = new Map<number, string>();
  /** Rights that a user has in addition to the groups', and rights that were removed, by `user model`. */
  readonly givenRights = new Map<string, string>();
  readonly takenRights = new Map<string, string>();
  /** Entries of the current call whose balance is checked at its end; null between calls. */
  syncing: Set<number> | null = null;
  /** A hook of an additional module that can refuse the deletion of entries by throwing. */
  onUnlink: (moves: readonly Row[]) => void = () => undefined;
  /** Hooks of an additional module after entries are created, and before a call that touched entries ends. */
  afterCreate: (env: Env, moves: readonly number[]) => void = () => undefined;
  beforeCommit: (env: Env, moves: ReadonlySet<number>) => void = () => undefined;
  /** The entries that the current call has touched. */
  readonly touched = new Set<number>();
  readonly #clock: Pick<Clock, 'now'>;

  constructor(version: OdooVersion, clock: Pick<Clock, 'now'>) {
    this.version = version;
    this.#clock = clock;
    this.schema = schemaOf(version);
  }

  /** The current time in UTC in Odoo's format. */
  nowText(): string {
    return new Date(this.#clock.now()).toISOString().slice(0, 19).replace('T', ' ');
  }

  rulesOf(model: string): ModelRules | undefined {
    return rules[model];
  }

  displayName(env: Env, model: string, row: Row): string {
    switch (model) {
      case 'account.move': {
        const name = row.name && row.name !== '/' ? String(row.name) : `Draft Entry (* ${row.id})`;
        return row.ref ? `${name} (${row.ref})` : name;
      }
      case 'account.account':
        return `${row.code} ${row.name}`;
      case 'account.analytic.account':
        return row.code ? `[${row.code}] ${row.name}` : String(row.name);
      case 'account.full.reconcile':
        return String(row.id);
      case 'account.move.line':
        return String(row.name || row.id);
      case 'res.users':
        return String(env.value(model, row, 'name'));
      default:
        return String(row.name ?? `${model},${row.id}`);
    }
  }

  /** The function that computes a field; null if the field is stored. */
  computed(model: string, name: string): ((env: Env, row: Row) => Json) | null {
    if (name === 'display_name') return (env, row) => this.displayName(env, model, row);
    if (model === 'res.company') {
      if (name === 'parent_path') return (env, row) => `${parentsOf(env, row.id).toReversed().join('/')}/`;
      if (name === 'parent_ids') return (env, row) => parentsOf(env, row.id).toReversed();
      if (/^(user|max)_.*_lock_date$/.test(name)) return (env, row) => userLockDate(env, row, name);
    }
    if (model === 'ir.model.data' && name === 'complete_name') return (_, row) => `${row.module}.${row.name}`;
    if (model === 'account.lock_exception' && name === 'state') {
      return (env, row) =>
        !row.end_datetime || (row.end_datetime as string) > env.core.nowText() ? 'active' : 'expired';
    }
    if (model === 'account.analytic.account' && name === 'root_plan_id') {
      return (env, row) => rootPlan(env, row.plan_id as number);
    }
    if (model === 'res.groups' && name === 'full_name') return (_, row) => row.name ?? false;
    return null;
  }

  /** Both lists of a tax's lines use the same inverse field. */
  inverseFilter(model: string, name: string): (row: Row) => boolean {
    const type = documentOf(model, name);
    return type === null ? () => true : (row) => row.document_type === type;
  }

  inverseValues(model: string, name: string): Values {
    const type = documentOf(model, name);
    return type === null ? {} : { document_type: type };
  }

  defaultsOf(env: Env, model: string): Values {
    const hasActive = this.schema.get(model)?.fields.has('active') ? { active: true } : {};
    const company = { company_id: env.company };
    switch (model) {
      case 'account.account': {
        const owner = this.version === 17 ? company : { company_ids: [env.company] };
        return { ...hasActive, ...owner, reconcile: false };
      }
      case 'account.journal':
        return { ...hasActive, ...company };
      case 'account.tax':
        return {
          ...{ ...hasActive, ...company, amount_type: 'percent', type_tax_use: 'sale' },
          country_id: env.store.get('res.company', env.company)?.account_fiscal_country_id ?? false,
        };
      case 'account.tax.repartition.line':
        return { factor_percent: 100 };
      case 'account.account.tag':
        return this.version === 19 ? hasActive : { ...hasActive, tax_negate: false };
      case 'res.company':
        return { ...hasActive, ...companyDefaults(env) };
      case 'res.users':
        return { ...hasActive, company_id: env.company, company_ids: [env.company] };
      case 'res.partner':
        return { ...hasActive, lang: 'en_US' };
      default:
        return hasActive;
    }
  }

  missingRequired(env: Env, model: string, field: Field): Error {
    const { label } = env.modelOf(model);
    return validationError(
      'The operation cannot be completed:\n- Create/update: a mandatory field is not set.\n- Delete: another model requires the record being deleted. If possible, archive it instead.\n\n' +
        `Model: ${label} (${model})\nField: ${field.label} (${field.name})`,
    );
  }

  addGroups(env: Env): void {
    for (const { id: name } of groups) {
      const [id = 0] = env.sudo().create('res.groups', [{ name }]);
      this.groupNames.set(id, name);
      const [module = '', short = ''] = name.split('.');
      env.sudo().create('ir.model.data', [{ module, name: short, model: 'res.groups', res_id: id, noupdate: true }]);
    }
  }
}

function documentOf(model: string, name: string): string | null {
  if (model !== 'account.tax') return null;
  return name.startsWith('invoice_') ? 'invoice' : name.startsWith('refund_') ? 'refund' : null;
}

/** A branch gets currency, country and suspense account of its parent company; a company gets a partner. */
function companyDefaults(env: Env): Values {
  const parent = env.store.get('res.company', env.company);
  const [partner = 0] = env.sudo().create('res.partner', [{ name: 'A company' }]);
  return {
    partner_id: partner,
    currency_id: parent?.currency_id ?? false,
    account_fiscal_country_id: parent?.account_fiscal_country_id ?? false,
    account_journal_suspense_account_id: parent?.account_journal_suspense_account_id ?? false,
  };
}

/** A tax always has a base line and a tax line for invoices and for refunds, even if the client names none. */
function taxValues(_env: Env, values: Values): Values {
  const lines = [
    [0, 0, { repartition_type: 'base' }],
    [0, 0, { repartition_type: 'tax' }],
  ];
  return { invoice_repartition_line_ids: lines, refund_repartition_line_ids: lines, ...values };
}

function rootPlan(env: Env, plan: number): Json {
  const parent = env.store.get('account.analytic.plan', plan)?.parent_id;
  return typeof parent === 'number' ? rootPlan(env, parent) : plan;
}
