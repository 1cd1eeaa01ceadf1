import { catalogue } from './catalogue.ts';

const many = (count: number, one: string, more = `${one}s`) => `${count} ${count === 1 ? one : more}`;

const option = (installation: number) => `--installation ${installation}`;

/** The sentences of mails. */
export const mailTexts = catalogue('mail.mailTexts', {
  /** `label` is the id of the installation with its name. */
  subject: ({ label, fact }: { label: string; fact: string }) => `[vetledger] ${label}: ${fact}`,
  factWithMore: ({ fact, more }: { fact: string; more: number }) => `${fact} (and ${many(more, 'earlier event')})`,
  intro: ({ label }: { label: string }) => `Installation ${label}`,
  moreEvents: ({ more }: { more: number }) => `And ${many(more, 'earlier event')} of this kind within the hour.`,
  footer: ({ recipient }: { recipient: string }) =>
    `vetledger sent this mail to ${recipient}. The key mail of its configuration decides who gets which mail.`,
  more: ({ more, command }: { more: number; command: string }) => `and ${more} more: ${command}`,
  todo: ({ todo }: { todo: string }) => `What to do: ${todo}`,
  problemsCommand: ({ installation, code }: { installation: number; code: string | null }) =>
    `vetledger problems ${code === null ? '' : `--code ${code} `}${option(installation)}`,
  lateCommand: ({ installation }: { installation: number }) => `vetledger late ${option(installation)}`,
  noDate: 'no date',
  age: ({ days }: { days: number }) => `${many(days, 'day')} old`,
  unknownAmount: 'amount unknown',

  checks: {
    brokenFact: ({ failing }: { failing: string }) => `the books are NOT in order (${failing})`,
    okFact: 'the books are in order again',
    at: ({ at }: { at: string }) => `Checked ${at}.`,
    broken: ({ name, meaning }: { name: string; meaning: string }) => `${name} does NOT hold: ${meaning}.`,
    /** Checks that are not equations. */
    names: {
      chain: 'the hash chain of the books is complete and unchanged',
      seals: 'the seals match the books',
    },
    ok: 'All checks of this kind hold again.',
    chainTodo: ({ installation }: { installation: number }) =>
      `\`vetledger ledger verify ${option(installation)}\` shows the first link that was changed. Compare it with a backup before you post or close anything.`,
    equationsTodo: ({ installation }: { installation: number }) =>
      `\`vetledger reconcile ${option(installation)}\` lists the documents of each difference; for E7 add --erp.`,
  },

  refused: {
    fact: ({ code, count }: { code: string; count: number }) =>
      count === 0
        ? `the ERP refuses all requests (${code})`
        : `the ERP refuses ${many(count, 'entry', 'entries')} (${code})`,
    found: ({ at }: { at: string }) => `Found ${at}.`,
    /** Refusals of the ERP that concern all entries. */
    companies: {
      erp_login_refused: {
        sentence: 'The ERP refuses the login of the API user, so nothing is delivered.',
        todo: 'Check user and password or key of `erp` in the configuration. `vetledger erp check` tries them.',
      },
      erp_company_foreign: {
        sentence:
          'The ERP has entries of another database of vetledger for this installation, so nothing is delivered.',
        todo: '`vetledger status` names the entries. `vetledger adopt` decides which database delivers.',
      },
    },
  },

  books: {
    closeFact: ({ through }: { through: string }) => `the books were closed through ${through}`,
    reopenFact: ({ from }: { from: string }) => `the books were reopened from ${from}`,
    closed: ({ through, at, persons }: { through: string; at: string; persons: string }) =>
      `The books were closed through ${through}, ${at}, by ${persons}.`,
    reopened: ({ from, at, persons }: { from: string; at: string; persons: string }) =>
      `The books were reopened from ${from}, ${at}, by ${persons}.`,
    persons: ({ by, second }: { by: string; second: string | null }) => (second === null ? by : `${by} with ${second}`),
    unknown: 'an unknown person',
    todo: ({ installation }: { installation: number }) =>
      `\`vetledger ledger closes ${option(installation)}\` lists all closes and reopenings, with reasons.`,
  },

  mapping: {
    fact: ({ number }: { number: number }) => `the mapping changed (version ${number})`,
    changed: ({ number, version, at }: { number: number; version: string | null; at: string }) =>
      `Version ${number}${version === null ? '' : ` (${version})`} of the mapping is in force since ${at}.`,
    byPerson: ({ person }: { person: string }) => `${person} put it in force.`,
    byFile: 'A start or reload of the daemon, or a command, loaded it from the changed file.',
    approvedBy: ({ person }: { person: string }) => `The file says that ${person} approved it.`,
    todo: ({ installation }: { installation: number }) =>
      `\`vetledger mapping history ${option(installation)}\` lists the versions. Posted entries stay until \`vetledger repost\`.`,
  },

  daily: {
    words: {
      held: 'held',
      late: 'late',
      missing: 'missing in the source',
      prepayment_unmatched: 'unmatched prepayments',
      overpaid: 'overpaid',
      paid_on_voided: 'paid on voided',
    },
    sections: {
      held: 'Held documents, which are not in the books',
      late: 'Late documents, which wait for a decision',
      missing: 'Posted documents that the source no longer shows',
      prepayment_unmatched: 'Uses of prepayments that are not matched',
      overpaid: 'Overpaid invoices',
      paid_on_voided: 'Payments on voided invoices',
    },
    factPart: ({ words, count }: { words: string; count: number }) => `${count} ${words}`,
    fact: ({ parts }: { parts: string }) => `new since the last mail: ${parts}`,
    title: ({ title, count, open }: { title: string; count: number; open: number }) =>
      `${title}: ${count} new, ${open} in all`,
    counts: {
      invoice: ({ count }: { count: number }) => many(count, 'invoice'),
      payment: ({ count }: { count: number }) => many(count, 'payment'),
      prepayment: ({ count }: { count: number }) => many(count, 'prepayment'),
      vat_due: ({ count }: { count: number }) => many(count, 'latest day of VAT', 'latest days of VAT'),
    },
    sum: ({ documents, amount }: { documents: string; amount: string | null }) =>
      `${documents}, ${amount ?? 'amount unknown'}`,
    sums: ({ sums }: { sums: string }) => `New: ${sums}.`,
    explain: ({ installation }: { installation: number }) =>
      `\`vetledger explain KIND ID ${option(installation)}\` explains one document.`,
  },

  monthly: {
    missingFact: ({ month, count }: { month: string; count: number }) =>
      `${month} is not closed: ${many(count, 'item')} of its checklist ${count === 1 ? 'needs' : 'need'} attention`,
    readyFact: ({ month }: { month: string }) => `${month} is not closed, and nothing is missing`,
    intro: ({ through }: { through: string }) => `The books are not closed through ${through}. The close still lacks:`,
    ready: ({ through }: { through: string }) =>
      `The books are not closed through ${through}. No item of the checklist needs attention.`,
    items: {
      last_window: () => 'No window has read the source after the end of the month: `vetledger sync`',
      held: ({ n }: { n: number }) => `${many(n, 'held document')}: \`vetledger problems\``,
      late: ({ n }: { n: number }) => `${many(n, 'late document')}: \`vetledger late\``,
      drafts: ({ n }: { n: number }) =>
        `${many(n, 'invoice')} that ${n === 1 ? 'is' : 'are'} not final in the practice software`,
      undelivered: ({ n }: { n: number }) => `${many(n, 'entry', 'entries')} not in the ERP: \`vetledger deliver\``,
      remarks: ({ n }: { n: number }) => `${many(n, 'document')} with money in the wrong place: \`vetledger problems\``,
      differences: ({ n }: { n: number }) =>
        `${many(n, 'check')} did not hold at the last reconciliation: \`vetledger reconcile\``,
      clearing: ({ n }: { n: number }) =>
        `${many(n, 'clearing account')} that must be zero: \`vetledger report clearing\``,
      owed_as_revenue: ({ n }: { n: number }) =>
        `${many(n, 'row')} posted as revenue, but named as gift cards or prepayments: \`vetledger mapping check\``,
      liabilities_in_debit: ({ n }: { n: number }) =>
        `${many(n, 'liability account')} in debit: \`vetledger report prepayments\``,
      vat_returns: ({ n }: { n: number }) => `${many(n, 'change')} of filed VAT returns: \`vetledger report vat\``,
    },
    todo: ({ installation, through }: { installation: number; through: string }) =>
      `\`vetledger ledger close --through ${through} --dry-run ${option(installation)}\` shows the whole checklist. Without --dry-run it closes the books.`,
  },
});
