// Loaded by Node.js before everything else, in test processes and in processes that tests start: moves the clock to today (today.ts).
import { moveClock } from './today.ts';

moveClock(Number(process.env.VETLEDGER_TEST_CLOCK_MS));
