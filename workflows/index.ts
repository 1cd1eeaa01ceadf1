export { backfill } from './backfill.ts';
export { deliver } from './deliver.ts';
export { replay, replayWindow } from './replay.ts';
export { scrub } from './scrub.ts';
export { syncWindow } from './sync-window.ts';
