export { backfill } from './backfill.ts';
export { syncWindow } from './syncWindow.ts';
