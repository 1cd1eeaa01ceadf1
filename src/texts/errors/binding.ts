import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

/**
 * The reason why a database is not used with a Temporal namespace (docs/operators/backup.md, "Copies and restored
 * databases").
 */
export const bindingErrors = catalogue('errors/binding.bindingErrors', {
  temporalReplaced: ({ evidence }: { evidence: string }): PlainError => ({
    code: 'temporal_replaced',
    message: `Temporal has lost its data, or is another server than before: ${evidence}. No window was opened, and no request was sent.`,
    todo: 'Restore the data of Temporal, or correct temporal.address and temporal.namespace: vetledger then continues automatically. If the data is lost for good, stop vetledger, run `vetledger adopt --restored --reason TEXT`, and start it again.',
  }),
  databaseCopied: ({ evidence }: { evidence: string }): PlainError => ({
    code: 'database_copied',
    message: `This database looks like a copy: ${evidence}. No window was opened, and no request was sent, because the original may be running.`,
    todo: 'If the original is gone and this database replaces it, run `vetledger adopt --restored --reason TEXT`. If it is a copy for tests, run `vetledger adopt --copy --reason TEXT`: it then writes to no ERP and no practice API of the original. docs/operators/backup.md, "Copies and restored databases", explains the choice.',
  }),
});

/** Signs that a database is a copy, or that Temporal was replaced. */
export const bindingEvidence = catalogue('errors/binding.bindingEvidence', {
  notBound: 'Temporal knows a later state of this database, which has no binding stored',
  otherServer: ({ here, bound }: { here: string | null; bound: string | null }) =>
    `it is on another PostgreSQL server (system ${here}) than when it was bound (${bound})`,
  otherDatabase: ({ here, bound }: { here: string | null; bound: string | null }) =>
    `it is another database (${here}) of the PostgreSQL server than the bound one (${bound})`,
  timelines: ({ here, bound }: { here: string | null; bound: string | null }) =>
    `timeline ${here}; it was bound on ${bound}`,
  restored: ({ timelines }: { timelines: string }) =>
    `its PostgreSQL server was restored, or a standby has taken over (${timelines})`,
  otherNamespace: ({ here, bound }: { here: string | null; bound: string | null }) =>
    `this database was bound to another Temporal namespace (${bound}) than the configured one (${here})`,
  standbyUnproven: ({ timelines }: { timelines: string }) =>
    `a standby has taken over (${timelines}), and nothing in Temporal shows whether it has every commit`,
  standbyLacksCommits: ({ timelines }: { timelines: string }) =>
    `a standby that lacks commits has taken over (${timelines}): Temporal knows a later state of this database`,
  laterState:
    'Temporal knows a later state of this database: this is an older copy, or its original is running elsewhere',
});

/** The reason why a database is bound again without a decision of the operator; for the log. */
export const bindingRemarks = catalogue('errors/binding.bindingRemarks', {
  newDevelopmentServer: 'the development server of Temporal is a new one',
  scheduleLost: 'Temporal has lost the Schedule that stores which database it works with',
  standby: ({ timelines }: { timelines: string }) => `a standby of PostgreSQL has taken over (${timelines})`,
});

/** Texts in Temporal about the original of a restored database. */
export const originalTexts = catalogue('errors/binding.originalTexts', {
  replacedBy: ({ name }: { name: string }) => `replaced by ${name}`,
  restoredAs: ({ name }: { name: string }) => `its database was restored as ${name}`,
  schedules: 'schedules of the original',
  workflows: 'workflows of the original',
  binding: ({
    incarnation,
    name,
    system,
    database,
  }: {
    incarnation: string;
    name: string;
    system: string;
    database: string;
  }) =>
    `incarnation ${incarnation} of database ${name}, in PostgreSQL ${system}/${database}; vetledger uses it to notice copies. Leave it paused.`,
});
