import type { ErpProblemCode } from '../../domain/erp-problems.ts';
import type { ErpParty } from '../entry.ts';
import { ErpError } from '../port.ts';

/** Why an entry cannot be sent. */
export interface EntryProblem {
  key: string;
  code: ErpProblemCode;
  message: string;
}

/** What was looked up of entries: the ids of everything that they name. */
export interface Resolved<Entry> {
  entries: Map<string, Entry>;
  problems: EntryProblem[];
  /** Clients that the ERP does not have yet, by code. */
  missingParties: Map<string, ErpParty>;
}

/** Refuses the entries that have the first problem; the others are sent again without them. Throws ErpError. */
export function throwFirst(problems: readonly EntryProblem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const same = problems.filter(({ code, message }) => code === first.code && message === first.message);
  throw new ErpError('refused', first.message, { problem: first.code, keys: same.map(({ key }) => key) });
}
