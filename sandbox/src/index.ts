// The exports of the sandbox for other programs.
export { type Application, builtInApplications } from './auth.ts';
export type { Clinic } from './clinic.ts';
export { type CommandOptions, SandboxError, type StartedSandbox, startFromCommand } from './command.ts';
export type { FaultSwitch, Faults } from './faults.ts';
export type { ActionStats, Stats } from './http/stats.ts';
export type { InvoiceInput, PaymentInput, PrepaymentInput, RowInput } from './inputs.ts';
export type { LiveEvent } from './live.ts';
export type { Quirks } from './quirks.ts';
export type { Invoice, InvoicePayment, InvoiceRow, Prepayment, VatGroup } from './records.ts';
export { describeApi, type Sandbox, type SandboxOptions, startSandbox } from './start.ts';
export type { Trigger, WebhookCounts, WebhookTarget } from './webhooks.ts';
