import { afterEach, beforeEach, expect, test } from 'vitest';
import { postWaiting } from '../../src/bookkeeping/post.ts';
import { postingContexts } from '../../src/bookkeeping/posting-context.ts';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import { transactionsOf } from '../../src/db/lease.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';

let clinic: TestClinic;
beforeEach(async () => {
  clinic = await startTestClinic({ seed: 8, invoices: 120 });
});
afterEach(() => clinic.stop());

const held = () =>
  clinic.rows<{ document: string; code: string; message: string }>(
    `select kind || ' ' || id as document, problem_code as code, problem_message as message from document
     where problem_code is not null order by kind, id`,
  );

/** Makes PostgreSQL refuse rows that match the condition, as it refuses a number that does not fit its column. */
const refuse = (table: string, condition: string, sqlState: string) =>
  clinic.asOwner(`create function poison() returns trigger language plpgsql as $$
    begin
      if ${condition} then raise exception 'a secret value' using errcode = '${sqlState}'; end if;
      return new;
    end $$;
    create trigger poison before insert or update on ${table} for each row execute function poison()`);

test('documents that PostgreSQL refuses are held by name; every other document is posted', async () => {
  const payments = clinic.sandbox.clinic.invoicePayments.all().map(({ id }) => id);
  const culprits = [payments[3], payments[40], payments[41]];
  await refuse('entry', `new.kind = 'payment' and new.document_id in (${culprits.join()})`, '22003');
  const window = await clinic.sync();
  expect(window.error ?? null).toBeNull();
  expect(await held()).toEqual(
    culprits.map((id) => ({
      document: `payment ${id}`,
      code: 'internal_error',
      message: `payment ${id}: posting it failed unexpectedly (PostgreSQL error 22003)`,
    })),
  );
  expect(await clinic.rows(`select from document where state = 'pending' or dirty`)).toEqual([]);

  await clinic.asOwner('drop trigger poison on entry');
  await clinic.rows(`update document set dirty = true, dirty_mark = dirty_mark + 1 where problem_code is not null`);
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect(await held()).toEqual([]);
  expect(await clinic.wrongBooks()).toEqual([]);
});

test('a document whose books contradict its state is held, and the others are posted', async () => {
  expect((await clinic.sync()).error ?? null).toBeNull();
  const [{ id }] = (await clinic.rows<{ id: number }>(
    `select id from document where kind = 'payment' and state = 'posted' order by id limit 1`,
  )) as [{ id: number }];
  // Resets the document as if it had never been posted, with facts that differ from its entry in force.
  await clinic.rows(
    `update document set entry_id = null, input_hash = null, state = 'pending', dirty = true, dirty_mark = dirty_mark + 1
     where kind = 'payment' and id = ?`,
    [id],
  );
  await clinic.rows(
    `update mirror_record set raw = replace(raw::text, '"paid":', '"paid":"1234.56","paid_once":')::json
     where kind = 'payment' and id = ?`,
    [id],
  );
  clinic.sandbox.live(10);
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect(await held()).toEqual([
    {
      document: `payment ${id}`,
      code: 'internal_error',
      message: `payment ${id}: posting it failed unexpectedly (already_in_force)`,
    },
  ]);
  expect(await clinic.rows(`select from document where dirty`)).toEqual([]);
});

test('what is no document’s fault holds none: with a full disk posting fails, and every document still waits', async () => {
  expect((await clinic.sync()).error ?? null).toBeNull();
  await clinic.rows(`update mirror_record set raw = replace(raw::text, '"paid":', '"paid":"1.00","paid_once":')::json`);
  await clinic.rows(`update document set dirty = true, dirty_mark = dirty_mark + 1 where kind = 'payment'`);
  await refuse('entry', 'true', '53100');
  const [installation] = clinic.app.config.installations as [InstallationConfig];
  const contextFor = await postingContexts(installation, async () => null);
  const posting = postWaiting(clinic.app.db, installation, contextFor, {
    ...{ windowId: null, finalRound: true, transact: transactionsOf(clinic.app.db), onProgress: () => undefined },
  });
  await expect(posting).rejects.toMatchObject({ code: '53100' });
  expect(await held()).toEqual([]);
  expect(await clinic.rows(`select from document where kind = 'payment' and not dirty`)).toEqual([]);
});
