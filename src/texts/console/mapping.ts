import { catalogue } from '../catalogue.ts';

/** The screen Mapping. */
export const mappingScreen = catalogue('console/mapping.mappingScreen', {
  inForce: ({ mapping, since }: { mapping: string; since: string }) =>
    `${mapping} is in force. The tables have the records dated from ${since} on.`,
  readAt: ({ at }: { at: string }) => `Their numbers and amounts were read ${at}.`,
  fileDiffers: 'The mapping in force differs from the file of the configuration.',
  cases: 'Cases',
  case: 'case',
  result: 'result',
  passes: 'as expected',
  noCases: 'The mapping has no cases.',
  history: 'Versions',
  used: 'Mappings of posted entries',
  approvedBy: 'approved by',
  since: 'in force since',
  firstPosted: 'first posted',
  lastPosted: 'last posted',
  links: 'links of the chain',
  proposedBy: 'proposed by',
});

/** The forms that propose, approve and apply a changed mapping. */
export const mappingFormTexts = catalogue('console/mapping.mappingFormTexts', {
  titles: {
    propose_mapping: 'Propose a changed mapping',
    apply_mapping: 'Approve the mapping',
    preview_repost: 'Preview of corrections',
    repost_books: 'Post the corrections',
  },
  effects: {
    propose_mapping:
      'Change the text and ask for a preview. Nothing changes before another accountant approves the proposal.',
    apply_mapping:
      'The next window posts new documents with this mapping. Posted entries do not change until the corrections are posted.',
    preview_repost:
      'The daemon compares all documents in the books with the mapping in force. This may take some minutes, and changes nothing.',
    repost_books:
      'Each document with other lines is reversed and posted again. Corrections in closed periods are held, and wait on the screen To decide. If the daemon stops, posted corrections stay.',
  },
  text: 'Mapping (YAML)',
  makePreview: 'Make the preview',
  previewReason: 'preview of corrections',
  tooLong: ({ most }: { most: number }) => `The mapping has more than ${most} characters. Nothing was changed.`,
  faults: ({ faults }: { faults: string }) => `The mapping is not valid: ${faults}`,
  otherChart:
    'The proposal names another chart of accounts. The chart is a file on the server: an operator changes it, with `vetledger mapping apply`.',
  unchanged: 'The proposal is the same as the mapping in force.',
  noPreview: 'There is no such preview. Make one on the screen Mapping.',
  otherBase: 'Another mapping has come into force since the preview. Make the preview again.',
  ownProposal: 'Another accountant approves this proposal on this page.',
  nothingToPost: 'The mapping in force gives the posted entries. There is nothing to correct.',
  posted: ({ corrected, change_held: held }: { corrected: number; change_held: number }) =>
    `${corrected} documents were corrected. ${held} corrections are held.`,
  preview: 'Preview',
  mapping: 'Mapping',
  settings: 'Changed settings',
  setting: 'setting',
  old: 'in force',
  now: 'proposed',
  absent: '(none)',
  corrected: 'documents to correct',
  changeHeld: 'corrections in closed periods, to be held',
  same: 'documents without a change',
  left: 'documents that the next window judges',
  held: 'documents that this mapping cannot post',
  open: ({ currency }: { currency: string }) => `Posted by month of the entries, in ${currency}, debits positive`,
  closed: ({ currency }: { currency: string }) =>
    `Held in closed periods, by month of the documents, in ${currency}, debits positive`,
  kept: 'Why documents cannot be posted',
  cause: 'cause',
  documents: 'documents',
  failing: 'Cases that the proposal does not meet',
  case: 'case',
  differences: 'differences',
});
