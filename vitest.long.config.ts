import { configDefaults, defineConfig } from 'vitest/config';
import { longTests } from './test/long.ts';
import ordinary from './vitest.config.ts';

export default defineConfig({ test: { ...ordinary.test, include: longTests, exclude: configDefaults.exclude } });
