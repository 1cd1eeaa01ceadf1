import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

/** Errors of commands that look for a document. */
export const documentErrors = catalogue('errors/documents.documentErrors', {
  ambiguous: ({ message, example }: { message: string; example: string }): PlainError => ({
    code: 'document_ambiguous',
    message,
    todo: `Name one of them, for example: \`vetledger explain ${example}\`.`,
  }),
  noSuchEntry: ({
    entry,
    kind,
    id,
    existing,
  }: {
    entry: string;
    kind: string;
    id: number;
    existing: string;
  }): PlainError => ({
    code: 'document_unknown',
    message: `There is no entry ${entry} of ${kind} ${id}: ${existing === '' ? 'it has none' : `it has ${existing}`}.`,
    todo: `\`vetledger explain ${kind} ${id}\` shows the document.`,
  }),
  unknown: ({ name, installations }: { name: string; installations: string }): PlainError => ({
    code: 'document_unknown',
    message: `There is no ${name} of installation ${installations} here.`,
    todo: 'Check the id or number. If the document is new, run `vetledger sync` first.',
  }),
  notListed: ({ kind, id, installation }: { kind: string; id: number; installation: number }): PlainError => ({
    code: 'document_unknown',
    message: `There is no ${kind} ${id} of installation ${installation} here.`,
    todo: 'Use an id that `vetledger problems` prints.',
  }),
  notInBooks: ({ kind, id, state }: { kind: string; id: number; state: string | null }): PlainError => ({
    code: state === null ? 'document_unknown' : 'not_in_books',
    message:
      state === null
        ? `There is no ${kind} ${id} here.`
        : `${kind} ${id} is ${state}: it has no entry in force that could be corrected.`,
    todo: `Look it up with \`vetledger explain ${kind} ${id}\`. \`vetledger status\` shows what has been synchronised.`,
  }),
});

/** Parts of the errors above. */
export const documentTexts = catalogue('errors/documents.documentTexts', {
  ambiguous: ({ text, documents, count }: { text: string; documents: string; count: number }) =>
    `${text} names ${count} documents: ${documents}.`,
  nameInstallation: 'Name the installation with --installation.',
  alsoNumber: ({ text, documents }: { text: string; documents: string }) =>
    `${text} is also the number of ${documents}.`,
  named: ({ kind, text }: { kind: string | null; text: string }) => `${kind ?? 'document'} ${text}`,
  summary: ({ summary }: { summary: string }) => `daily summary ${summary}`,
  candidate: (of: { document: string; state: string; dated: string | null; number: string | null }) =>
    `${of.document} (${of.state}${of.dated === null ? '' : ` of ${of.dated}`}${of.number === null ? '' : `, number ${of.number}`})`,
  idMissing: ({ kind }: { kind: string }) => `missing required argument 'id' of the ${kind}.`,
  unknownKind: ({ kind, known }: { kind: string; known: string }) =>
    `${kind} is not a kind of document. The kinds are ${known}.`,
  noId: ({ text, kind }: { text: string; kind: string }) =>
    `${text} is not an id. Give the id of the ${kind} in the practice software.`,
});
