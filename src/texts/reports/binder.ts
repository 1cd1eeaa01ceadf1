import { catalogue } from '../catalogue.ts';

/** Texts of a closing binder (`vetledger export --binder`): its tables, pages and `README.txt`. */
export const binderTexts = catalogue('reports/binder.binderTexts', {
  title: ({ month }: { month: string }) => `Closing binder ${month}`,
  noChecklist: 'No checklist was stored with this close.',
  lists: { held: 'held', late: 'late', drafts: 'not final' },
  more: ({ count }: { count: number }) => `${count} more`,
  kinds: { close: 'closed', reopen: 'opened again' },
  header: (of: { label: string; month: string; books: string }) => `Installation ${of.label}, ${of.month}. ${of.books}`,
  fromTo: ({ from, through }: { from: string; through: string }) => `${from} to ${through}`,
  reopened: (of: { month: string; at: string }) => `${of.month} WAS OPENED AGAIN ON ${of.at}`,
  page: ({ page, pages }: { page: number; pages: number }) => `page ${page} of ${pages}`,
  filesTitle: 'Files',
  fileHeads: { name: 'file', lines: 'lines', sha256: 'SHA-256' },
  onlySums: ({ lines, file }: { lines: number; file: string }) =>
    `${lines} lines: they are in ${file}. Here are the sums.`,
  nothing: 'nothing',
  document: 'document',
  total: 'total',
  facts: {
    installation: 'installation',
    days: 'days',
    currency: 'currency',
    books: 'books',
    closed: 'closed',
    head: 'head of the books',
    summaries: 'head of the daily summaries',
    seal: 'seal',
    reopened: 'opened again since',
    mapping: 'mapping at the close',
  },
  closedBy: (of: { through: string; at: string; persons: string; link: number; entries: number }) =>
    `through ${of.through}, on ${of.at}, by ${of.persons}; link ${of.link} of the chain, after ${of.entries} entries`,
  noName: 'no recorded name',
  sealed: (of: { n: number; at: string; signature: string }) =>
    `number ${of.n} of ${of.at}, Ed25519 signature ${of.signature}`,
  unsealed: 'none: no seal_key was configured at the close',
  notReopened: 'no',
  reopenedBy: (of: { at: string; by: string; reason: string; through: string }) =>
    `on ${of.at} by ${of.by}: ${of.reason}. The books are closed through ${of.through} since. This binder shows them as they were at the close.`,
  nothingBefore: 'none',
  /** The content of each file, by its name. */
  files: {
    'binder.pdf': 'All tables, to read and print. Long lists are only in the CSV files.',
    'checklist.csv': 'The checklist that was shown before the close.',
    'trial-balance.csv':
      'Each account: balance before the month, debit, credit, balance after it. Debits are positive.',
    'vat.csv': 'Base and tax of each document, by VAT group and rate. Sales are positive.',
    'vat-late.csv': 'The same for late entries. The accountant chooses the return for them.',
    'receivables.csv': 'Open invoices at the end of the month, by days after the due date.',
    'prepayments.csv': 'Prepayments of clients: the documents of each client with a balance.',
    'vouchers.csv': 'Gift cards and vouchers: sold, redeemed and unused.',
    'late-entries.csv': 'Entries that have another date than their document, or that are late for its VAT period.',
    'open-documents.csv': 'Held, late and unfinished documents at the close, as the checklist names them.',
    'closes.csv': 'All closes and reopenings up to this close, and the reopening after it.',
    'decisions.csv': 'Decisions of people from the first day of the month until the close, with name and reason.',
    'journal.csv': 'Each line of each entry of the month. `entry` and `seq` are also in chain.txt.',
    'chain.txt': 'The links of the hash chain: entries of the month, and all closes.',
    'close.json': 'The details of the close as they were hashed: the hash of its action, and the checklist.',
    'seal.txt': 'The text that the seal signs.',
    'seal.sig': 'The signature of that text (Ed25519, 64 bytes).',
    'checksums.txt': 'SHA-256 of each file.',
  } as Record<string, string>,
});

/** Texts of `vetledger export --binder` on the terminal. */
export const binderExportTexts = catalogue('reports/binder.binderExportTexts', {
  question: ({ folders }: { folders: string }) => `Replace the existing binder ${folders}?`,
  notReplaced: 'Nothing was written.',
  written: (of: { installation: number; month: string; folder: string; files: number }) =>
    `Installation ${of.installation}: the closing binder of ${of.month} has ${of.files} files in ${of.folder}.`,
  reopened: ({ month }: { month: string }) =>
    `  ${month} was opened again after this close. Close it again, then make a new binder.`,
});
