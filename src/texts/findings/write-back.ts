import { catalogue } from '../catalogue.ts';

/** Messages about values that vetledger writes to the practice software. `value` and `current` are quoted texts. */
export const writeBackTexts = catalogue('findings/write-back.writeBackTexts', {
  none: 'no value',
  notShown: ({ value, current }: { value: string; current: string }): string =>
    `the practice software accepted ${value}, but shows ${current}`,
  recordAside: 'the record in the practice software is put aside, so nothing can be written to it',
  taken: ({ value, current }: { value: string; current: string }): string =>
    `the practice software has ${current} in place of the ERP’s number ${value}; it was not replaced`,
  takenByOwnNumber: ({ value, current }: { value: string; current: string }): string =>
    `the practice software has ${current} in place of the ERP’s number ${value}. It is the number of another document of ours; it was not replaced`,
  lockDateNotShown: ({ lockDate, current }: { lockDate: string; current: string }): string =>
    `the practice software accepted the lock date ${lockDate}, but shows ${current}`,
  noLockDate: 'none',
  sendingFailed: ({ reason }: { reason: string }): string => `sending it failed unexpectedly (${reason})`,
  noRoom: ({ seconds, rounds }: { seconds: number; rounds: number }): string =>
    `the rate budget had no room for a write within ${seconds} s of reading the document, ${rounds} times in a row`,
});
