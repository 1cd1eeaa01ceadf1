import type { ScriptedCall } from './call.ts';
import { entryCalls } from './entries.ts';
import { lockCalls } from './locks.ts';
import { peopleCalls } from './people.ts';
import { recordCalls } from './records.ts';
import { taxCalls } from './taxes.ts';
import { wireCalls } from './wire.ts';

export const scriptedCalls: ScriptedCall[] = [
  ...entryCalls,
  ...taxCalls,
  ...lockCalls,
  ...peopleCalls,
  ...recordCalls,
  ...wireCalls,
];
