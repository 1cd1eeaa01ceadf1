import { shown } from '../languages/language.ts';
import { cellText } from '../reports/installation-report.ts';
import type { Cell } from '../reports/report-sections.ts';
import { labels } from '../texts/commands/labels.ts';
import { roleNames } from '../texts/reports/accounts.ts';
import { codeWord, inWords, typeName } from './words.ts';

/** Columns of codes. */
const ofCodes = ['type', 'kind', 'documents_of', 'is_late', 'state', 'decision'];

// The books have default names in English, so these stay English.
const roleOfName = new Map<string, string>(Object.entries(roleNames).map(([role, name]) => [name, role]));

/** A cell of a report in words of the language in force. Names of users stay as they are. */
export function cellWords(name: string, cells: Readonly<Record<string, Cell>>): string {
  const text = cellText(cells[name]);
  if (name === 'name') return 'customer' in cells ? customerName(text, cells.customer) : accountName(text, cells);
  if (ofCodes.includes(name)) return codeWord(text);
  // The mapping names the boxes of a form; the report names the figures without a box.
  if (['part', 'action'].includes(name) || (name === 'title' && cells.box === null)) return shown(text);
  return name === 'unmatched' ? documentWords(text) : text;
}

/** A cell of a report for readers who type no codes: roles, kinds and payment types are words in every language. */
export function plainWords(name: string, cells: Readonly<Record<string, Cell>>): string {
  const cell = cells[name];
  if (name === 'role') return roleName(cellText(cell));
  if (name === 'payment_type' && typeof cell === 'number') return typeName(cell);
  return ofCodes.includes(name) ? inWords(cellText(cell)) : cellWords(name, cells);
}

/** The name of a role's account. */
export function roleName(role: string): string {
  return Object.hasOwn(roleNames, role) ? roleNames[role as keyof typeof roleNames] : role;
}

/** The name of an account, which may be the default name of its role. */
export function accountName(name: string, { account }: Readonly<Record<string, Cell>> = {}): string {
  // A line without an account has a text, such as the result of the fiscal year.
  if (account === null) return shown(name);
  const role = roleOfName.get(name);
  return role === undefined ? name : roleNames[role as keyof typeof roleNames];
}

/** `invoice 123` in words; also texts such as `every entry`. */
export function documentWords(document: string): string {
  const [, kind, id] = /^(invoice|payment|prepayment) (\d+)$/.exec(document) ?? [];
  return kind === undefined ? shown(document) : `${codeWord(kind)} ${id}`;
}

function customerName(name: string, customer: Cell | undefined): string {
  const [, client] = /^client:(\d+)$/.exec(cellText(customer)) ?? [];
  return name === '' && client !== undefined ? labels.client({ client: Number(client) }) : name;
}
