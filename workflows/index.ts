export { backfill } from './backfill.ts';
export { syncWindow } from './sync-window.ts';
