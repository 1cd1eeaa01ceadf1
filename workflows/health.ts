import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { defineSignal, setCurrentDetails, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import { workflowTexts } from '../src/texts/temporal.ts';
import { healthNoteOf } from './inputs.ts';
import { healthSignalName, type WindowCounts, type WindowInput } from './messages.ts';

const healthSignal = defineSignal<[unknown?]>(healthSignalName);
const installationKey = defineSearchAttributeKey('Installation', SearchAttributeType.KEYWORD);
const healthKey = defineSearchAttributeKey('SyncHealth', SearchAttributeType.KEYWORD);
const numberKey = defineSearchAttributeKey('WindowNumber', SearchAttributeType.KEYWORD);
const fromKey = defineSearchAttributeKey('WindowFrom', SearchAttributeType.DATETIME);
const toKey = defineSearchAttributeKey('WindowTo', SearchAttributeType.DATETIME);

export type Health = 'ok' | 'waiting' | 'retrying' | 'held' | 'failed';

/**
 * Shows a window's interval, step, counts and health in the Temporal UI: as search attributes, and as Markdown details.
 */
export class WindowView {
  private readonly input: WindowInput;
  private health: Health = 'ok';
  private note = '';
  private step = 'opening';
  private window = '';
  private trigger: string;
  private counts: WindowCounts | null = null;
  /** The text about a signal with an invalid input. */
  private ignored = '';
  /** The records that a first load still has to read. */
  private left = '';

  constructor(input: WindowInput) {
    this.input = input;
    this.trigger = input.trigger;
    if (input.searchAttributes) {
      upsertSearchAttributes([
        { key: installationKey, value: String(input.installation) },
        { key: healthKey, value: 'ok' },
      ]);
    }
    setHandler(healthSignal, (input?: unknown) => {
      const signalled = healthNoteOf(input);
      if (signalled === null) {
        this.ignored = workflowTexts.ignoredSignal({ signal: healthSignalName });
        this.show();
        return;
      }
      // A late signal of an activity must not change the state of a failed window.
      if (this.health === 'failed') return;
      this.setHealth(signalled.health);
      this.note = signalled.note;
      this.show();
    });
    this.show();
  }

  /** `number` is the window's number in `vetledger windows`. */
  opened(number: number, from: string | null, to: string, trigger: string): void {
    this.trigger = trigger;
    this.window = workflowTexts.windowInterval({ number, from, to });
    if (this.input.searchAttributes) {
      upsertSearchAttributes([
        { key: numberKey, value: String(number) },
        { key: fromKey, value: from === null ? null : new Date(from) },
        { key: toKey, value: new Date(to) },
      ]);
    }
  }

  /** Shows the number of a window that failed before this workflow got the result of its opening. */
  failedAs(number: number): void {
    this.window = workflowTexts.window({ number });
    if (this.input.searchAttributes) upsertSearchAttributes([{ key: numberKey, value: String(number) }]);
  }

  at(step: string, counts: WindowCounts): void {
    this.step = step;
    this.count(counts);
  }

  count(counts: WindowCounts): void {
    this.counts = counts;
    this.show();
  }

  /** Sets what a first load still has to read; the next count shows it. */
  isLeft(left: string | null): void {
    this.left = left === null ? '' : workflowTexts.left({ left });
  }

  ended(health: Health, step: string, counts: WindowCounts, note = ''): void {
    this.setHealth(health);
    this.note = note;
    this.at(step, counts);
  }

  private setHealth(health: Health): void {
    if (health !== this.health && this.input.searchAttributes)
      upsertSearchAttributes([{ key: healthKey, value: health }]);
    this.health = health;
  }

  private show(): void {
    const { counts, trigger, step, health } = this;
    const lines = [
      workflowTexts.windowState({ installation: this.input.installation, trigger, step, health }),
      this.window,
      this.note,
      this.ignored,
      this.left,
    ];
    if (counts) {
      const { pulled, api } = counts;
      lines.push(
        workflowTexts.windowHeadings,
        `|---|---|---|---|---|---|---|`,
        `| ${workflowTexts.pulled(pulled)} ` +
          `| ${counts.posted} | ${counts.held} | ${counts.written_back} ` +
          `| ${api.requests} | ${api.weight} | ${Math.round(api.waited_seconds)} s |`,
      );
    }
    // Markdown needs an empty line between paragraphs, and none between the rows of a table.
    setCurrentDetails(
      lines
        .filter((line) => line !== '')
        .join('\n\n')
        .replaceAll('|\n\n|', '|\n|'),
    );
  }
}
