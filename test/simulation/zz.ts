import { rareMutants } from './mutants.ts';
import { firstFailure } from './run-mutants.ts';

const f = firstFailure(rareMutants['references to another tenant overlooked']!, 60, 120);
console.log('tenant', f ? `${f.seed} ${f.step}` : 'NOT FOUND');
