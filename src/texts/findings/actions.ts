import { catalogue } from '../catalogue.ts';

/** Defects that `ledger verify` finds in the chain of actions. */
export const actionFindings = catalogue('findings/actions.actionFindings', {
  missingLink: ({ expected, found }: { expected: number; found: number }) =>
    `link ${expected} of the actions is missing or occurs twice; the next link is ${found}`,
  wrongPrevious: 'it does not follow the previous link',
  wrongContent: 'its content differs from what was recorded',
  wrongReason: 'its reason differs from what was recorded',
  wrongEnd: ({ end, recorded }: { end: number; recorded: number | null }) =>
    `the chain of actions ends at link ${end}, but the last recorded link is ${recorded ?? 'none'}`,
  missingReason: 'its reason is missing, and no erasure names it',
});

/** Names of the links of the chain. */
export const actionNames = catalogue('findings/actions.actionNames', {
  action: ({ id }: { id: number }) => `action ${id}`,
  outcome: ({ id }: { id: number }) => `the outcome of action ${id}`,
  last: 'the last action',
});
