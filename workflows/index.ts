export { backfill } from './backfill.ts';
export { deliver } from './deliver.ts';
export { replay, replayWindow } from './replay.ts';
export { scrub } from './scrub.ts';
export { firstLoad, syncWindow } from './sync-window.ts';
