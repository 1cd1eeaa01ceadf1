import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { defineSignal, setCurrentDetails, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import type { Health } from './health.ts';
import { type DeliveryInput, type DeliveryReport, type HealthNote, healthSignalName } from './messages.ts';

const healthSignal = defineSignal<[HealthNote]>(healthSignalName);
const installationKey = defineSearchAttributeKey('Installation', SearchAttributeType.KEYWORD);
const healthKey = defineSearchAttributeKey('SyncHealth', SearchAttributeType.KEYWORD);

/** Shows a delivery in the Temporal UI: its health as a search attribute, its counts and what it waits for as Markdown. */
export class DeliveryView {
  private readonly input: DeliveryInput;
  private health: Health = 'ok';
  private note = '';
  private last: DeliveryReport | null = null;

  constructor(input: DeliveryInput) {
    this.input = input;
    if (input.searchAttributes) {
      upsertSearchAttributes([
        { key: installationKey, value: String(input.installation) },
        { key: healthKey, value: 'ok' },
      ]);
    }
    // What the slice under way waits for, until its report.
    setHandler(healthSignal, ({ note }) => this.show(this.health, note));
    this.show('ok', '');
  }

  report(report: DeliveryReport): void {
    const { waitingFor, nextDueMs, refused, unapproved } = report;
    this.last = report;
    const note = waitingFor === null ? '' : `Waiting: ${waitingFor.message} What to do: ${waitingFor.todo}`;
    if (waitingFor !== null && nextDueMs !== null) this.show('waiting', note);
    else this.show(waitingFor !== null || refused + unapproved > 0 ? 'held' : 'ok', note);
  }

  failed(message: string, failures: number): void {
    this.show('retrying', `Failed ${failures === 1 ? 'once' : `${failures} times in a row`}: ${message}`);
  }

  private show(health: Health, note: string): void {
    if (health !== this.health && this.input.searchAttributes)
      upsertSearchAttributes([{ key: healthKey, value: health }]);
    this.health = health;
    this.note = note;
    setCurrentDetails(this.markdown());
  }

  private markdown(): string {
    const parts = [`**Delivery of installation ${this.input.installation}** · ${this.health}`];
    if (this.note !== '') parts.push(this.note);
    if (this.last !== null) {
      const { delivered, left, drafted, unapproved, refused, uncertain } = this.last;
      parts.push(
        [
          '| delivered | left | drafts | waiting for consent | refused | uncertain |',
          '|---|---|---|---|---|---|',
          `| ${delivered} | ${left} | ${drafted} | ${unapproved} | ${refused} | ${uncertain} |`,
        ].join('\n'),
      );
      if (refused > 0) parts.push('`vetledger problems` tells what was refused, why, and what to do.');
      if (unapproved > 0) parts.push('`vetledger deliver --approve --through DATE` gives the consent.');
    }
    return parts.join('\n\n');
  }
}
