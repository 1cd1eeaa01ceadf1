export { backfill } from './backfill.ts';
export { scrub } from './scrub.ts';
export { syncWindow } from './sync-window.ts';
