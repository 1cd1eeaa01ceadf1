import type { ActionKind } from '../../actions/record.ts';
import type { Permission } from './rights.ts';

/** The actions that a user can ask for in the console, with the permission that each needs. */
export const permittedActions = { decide_late: 'decide' } as const satisfies Partial<Record<ActionKind, Permission>>;
export type AskedKind = keyof typeof permittedActions;
