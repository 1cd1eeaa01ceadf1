import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { defineSignal, setCurrentDetails, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import { type HealthNote, healthSignalName, type WindowCounts, type WindowInput } from './messages.ts';

const healthSignal = defineSignal<[HealthNote]>(healthSignalName);
const installationKey = defineSearchAttributeKey('Installation', SearchAttributeType.KEYWORD);
const healthKey = defineSearchAttributeKey('SyncHealth', SearchAttributeType.KEYWORD);
const fromKey = defineSearchAttributeKey('WindowFrom', SearchAttributeType.DATETIME);
const toKey = defineSearchAttributeKey('WindowTo', SearchAttributeType.DATETIME);

export type Health = 'ok' | 'waiting' | 'retrying' | 'held' | 'failed';

/** Shows a window's interval, step, counts and health in the Temporal UI: as search attributes, and as Markdown details. */
export class WindowView {
  private readonly input: WindowInput;
  private health: Health = 'ok';
  private note = '';
  private step = 'opening';
  private interval = '';

  constructor(input: WindowInput) {
    this.input = input;
    if (input.searchAttributes) {
      upsertSearchAttributes([
        { key: installationKey, value: String(input.installation) },
        { key: healthKey, value: 'ok' },
      ]);
    }
    setHandler(healthSignal, ({ health, note }) => {
      // A signal of an activity that ends late does not change the state of a failed window.
      if (this.health === 'failed') return;
      this.setHealth(health);
      this.note = note;
      this.show();
    });
    this.show();
  }

  opened(from: string | null, to: string): void {
    this.interval = `${from ?? 'the beginning'} … ${to}`;
    if (this.input.searchAttributes) {
      upsertSearchAttributes([
        { key: fromKey, value: from === null ? null : new Date(from) },
        { key: toKey, value: new Date(to) },
      ]);
    }
  }

  at(step: string, counts: WindowCounts): void {
    this.step = step;
    this.show(counts);
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

  private show(counts?: WindowCounts): void {
    const lines = [
      `**Installation ${this.input.installation}** · ${this.input.trigger} · **${this.step}** · ${this.health}`,
      this.interval && `Interval ${this.interval}`,
      this.note,
    ];
    if (counts) {
      const { pulled } = counts;
      lines.push(
        `| pulled | posted | held | written back | API weight |`,
        `|---|---|---|---|---|`,
        `| ${pulled.invoices} invoices, ${pulled.rows} rows, ${pulled.payments} payments, ${pulled.prepayments} prepayments ` +
          `| ${counts.posted} | ${counts.held} | ${counts.written_back} | ${counts.api.weight} |`,
      );
    }
    // Markdown: an empty line between paragraphs, none between the rows of the table.
    setCurrentDetails(
      lines
        .filter((line) => line !== '')
        .join('\n\n')
        .replaceAll('|\n\n|', '|\n|'),
    );
  }
}
