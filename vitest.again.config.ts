import { configDefaults, defineConfig } from 'vitest/config';
import ordinary from './vitest.config.ts';

/** Any test file, long or not: for those that failed and run a second time, alone (.ci/run). */
export default defineConfig({ test: { ...ordinary.test, exclude: configDefaults.exclude } });
