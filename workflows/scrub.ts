import {
  continueAsNew,
  defineSignal,
  isCancellation,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import { workflowTexts } from '../src/texts/temporal.ts';
import { activitiesAs } from './activities.ts';
import { checkScrubInput } from './inputs.ts';
import { healthSignalName, longRuns, type ScrubInput, type ScrubReport } from './messages.ts';
import { isToContinue, scrubbing } from './options.ts';

const { scrubSlice } = activitiesAs(scrubbing);

const healthSignal = defineSignal<[unknown?]>(healthSignalName);
const shortestPauseMs = 1_000;
/** The configuration is checked again at least this often. */
const longestPauseMs = 3_600_000;
const failedPauseMs = 300_000;
/** Slices per run. The next run continues from the position in the database. */
const slicesAtMost = 500;

/** Scrubs one installation: slice after slice, with pauses between them, until the configuration turns it off. */
export async function scrub(input: ScrubInput): Promise<void> {
  checkScrubInput(input);
  // Activities signal long waits. The scrub ignores these signals, because its waits are usually long.
  setHandler(healthSignal, () => undefined);
  for (let slices = 0; slices < slicesAtMost && isToContinue(longRuns.scrub.renewedAfterMs); slices++) {
    let report: ScrubReport | null = null;
    try {
      report = await scrubSlice(input);
      setCurrentDetails(workflowTexts.scrubState({ installation: input.installation, state: report.state }));
    } catch (error) {
      if (isCancellation(error)) throw error;
      const state = workflowTexts.scrubFailed;
      setCurrentDetails(workflowTexts.scrubState({ installation: input.installation, state }));
    }
    if (report?.state === 'off') return;
    await sleep(Math.min(longestPauseMs, Math.max(shortestPauseMs, report?.pauseMs ?? failedPauseMs)));
  }
  await continueAsNew<typeof scrub>(input);
}
