import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LockTimeout, withLock } from '../../src/embedded/lock.ts';
import { signalGroup, startHolder, temporaryFolder } from './support.ts';

test('one at a time, within a process too', async () => {
  const file = join(temporaryFolder(), 'lock');
  let inside = 0;
  let most = 0;
  const work = () =>
    withLock(file, { waitMs: 10_000 }, async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inside--;
    });
  await Promise.all([work(), work(), work()]);
  expect(most).toBe(1);
});

test('is free again after its work failed', async () => {
  const file = join(temporaryFolder(), 'lock');
  await expect(withLock(file, { waitMs: 100 }, () => Promise.reject(new Error('work failed')))).rejects.toThrow(
    'work failed',
  );
  expect(await withLock(file, { waitMs: 100 }, async () => 'free')).toBe('free');
});

test('a time-out names the process that holds it; its death frees it', async () => {
  const file = join(temporaryFolder(), 'lock');
  const { child } = await startHolder('lock', file);
  const refused = await withLock(file, { waitMs: 300 }, async () => {}).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(LockTimeout);
  expect((refused as LockTimeout).holder).toBe(String(child.pid));

  await signalGroup(child, 'SIGKILL');
  expect(await withLock(file, { waitMs: 300 }, async () => 'free')).toBe('free');
});
