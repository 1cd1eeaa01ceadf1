import { type Role, roles, soldRoles } from '../terms.ts';
import { mappingFaults } from '../texts/mapping/faults.ts';
import { defaultPaymentRole, fixedPaymentRoles } from './payment-types.ts';

/**
 * Roles whose lines are cleared by other documents. A payment type cannot have such a role, since its lines would never
 * be cleared.
 */
export const closingRoles: readonly Role[] = [
  'receivable',
  'opening_receivable',
  'prepayment_liability',
  'prepayment_vat',
  'vat_not_due',
  'opening_vat_not_due',
  'credit_settlement',
  'consolidation_clearing',
];
/** Roles that a payment type can have. */
export const openRoles = roles.filter((role) => !closingRoles.includes(role));

/**
 * Roles that have only one account, because their lines clear each other on that account. On several accounts, the
 * lines would stay open.
 */
export const oneAccountRoles: readonly Role[] = [...fixedPaymentRoles.values(), ...soldRoles, 'prepayment_vat'];

interface Target {
  role?: Role | undefined;
  account?: string | undefined;
}

/** A payment type in a mapping. */
interface TypeTarget extends Target {
  departments?: Record<string, Target> | undefined;
}

/** Faults in `payment_types`: places that would spread lines that clear each other over several accounts. */
export function faultsOfPaymentTypes(types: Record<string, TypeTarget>): { path: string[]; message: string }[] {
  const fixed = Object.keys(types).flatMap((type) => {
    const role = fixedPaymentRoles.get(type);
    return role ? [{ path: [type], message: mappingFaults.fixedType({ role }) }] : [];
  });
  const spread = ownAccounts(types).flatMap(({ path, role }) =>
    role && oneAccountRoles.includes(role) && !fixedPaymentRoles.has(path[0] ?? '')
      ? [{ path, message: mappingFaults.roleOneAccount({ role }) }]
      : [],
  );
  return [...fixed, ...spread];
}

/** Payment types with a separate account, and the role whose account it replaces. */
function ownAccounts(types: Record<string, TypeTarget>): { path: string[]; role: Role | null }[] {
  return Object.entries(types).flatMap(([type, { departments = {}, ...general }]) => {
    const role = general.role ?? defaultPaymentRole(Number(type));
    const found = general.account ? [{ path: [type, 'account'], role }] : [];
    const own = Object.entries(departments).filter(([, { account }]) => account);
    return [
      ...found,
      ...own.map(([id, target]) => ({ path: [type, 'departments', id, 'account'], role: target.role ?? role })),
    ];
  });
}
