import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { defineSignal, setCurrentDetails, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import { workflowTexts } from '../src/texts/temporal.ts';
import type { Health } from './health.ts';
import { healthNoteOf } from './inputs.ts';
import { type DeliveryInput, type DeliveryReport, healthSignalName } from './messages.ts';

const healthSignal = defineSignal<[unknown?]>(healthSignalName);
const installationKey = defineSearchAttributeKey('Installation', SearchAttributeType.KEYWORD);
const healthKey = defineSearchAttributeKey('SyncHealth', SearchAttributeType.KEYWORD);

/**
 * Shows a delivery in the Temporal UI: its health as a search attribute, its counts and the reason for waiting as
 * Markdown.
 */
export class DeliveryView {
  private readonly input: DeliveryInput;
  private health: Health = 'ok';
  private note = '';
  /** The text about a signal with an invalid input. */
  private ignored = '';
  private last: DeliveryReport | null = null;

  constructor(input: DeliveryInput) {
    this.input = input;
    if (input.searchAttributes) {
      upsertSearchAttributes([
        { key: installationKey, value: String(input.installation) },
        { key: healthKey, value: 'ok' },
      ]);
    }
    // The note of the running slice, until its report replaces it.
    setHandler(healthSignal, (input?: unknown) => {
      const signalled = healthNoteOf(input);
      if (signalled === null) this.ignore(healthSignalName);
      else this.show(this.health, signalled.note);
    });
    this.show('ok', '');
  }

  report(report: DeliveryReport): void {
    const { waitingFor, nextDueMs, refused, unapproved } = report;
    this.last = report;
    const note = waitingFor === null ? '' : workflowTexts.deliveryWaits(waitingFor);
    if (waitingFor !== null && nextDueMs !== null) this.show('waiting', note);
    else this.show(waitingFor !== null || refused + unapproved > 0 ? 'held' : 'ok', note);
  }

  failed(message: string, failures: number): void {
    this.show('retrying', workflowTexts.deliveryFailed({ times: failures, reason: message }));
  }

  /** Shows that a signal had an invalid input. */
  ignore(signal: string): void {
    this.ignored = workflowTexts.ignoredSignal({ signal });
    this.show(this.health, this.note);
  }

  private show(health: Health, note: string): void {
    if (health !== this.health && this.input.searchAttributes)
      upsertSearchAttributes([{ key: healthKey, value: health }]);
    this.health = health;
    this.note = note;
    setCurrentDetails(this.markdown());
  }

  private markdown(): string {
    const parts = [workflowTexts.delivery({ installation: this.input.installation, health: this.health })];
    if (this.note !== '') parts.push(this.note);
    if (this.ignored !== '') parts.push(this.ignored);
    if (this.last !== null) {
      const { delivered, left, drafted, unapproved, refused, uncertain } = this.last;
      parts.push(
        [
          workflowTexts.deliveryHeadings,
          '|---|---|---|---|---|---|',
          `| ${delivered} | ${left} | ${drafted} | ${unapproved} | ${refused} | ${uncertain} |`,
        ].join('\n'),
      );
      if (refused > 0) parts.push(workflowTexts.refused);
      if (unapproved > 0) parts.push(workflowTexts.unapproved);
    }
    return parts.join('\n\n');
  }
}
