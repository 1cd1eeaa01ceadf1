import { afterEach, beforeEach, expect, test } from 'vitest';
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

const refuse = (condition: string) =>
  clinic.asOwner(`create function poison() returns trigger language plpgsql as $$
    begin
      if ${condition} then raise exception 'a secret value' using errcode = '22P05'; end if;
      return new;
    end $$;
    create trigger poison before insert or update on mirror_record for each row execute function poison()`);

const stored = (kind: string, id: number, of = `${kind} ${id}`) => ({
  document: of,
  code: 'internal_error',
  message: `${kind} ${id}: storing it failed unexpectedly (PostgreSQL error 22P05)`,
});

test('records that PostgreSQL refuses are put aside: the walk goes on, their documents are held, E6 counts them', async () => {
  const payment = clinic.sandbox.clinic.invoicePayments.all()[40]?.id ?? 0;
  const row = clinic.sandbox.clinic.invoiceRows.all()[100];
  const invoice = clinic.sandbox.clinic.invoices.get(row?.invoice ?? 0);
  await refuse(`(new.kind = 'payment' and new.id = ${payment}) or (new.kind = 'row' and new.id = ${row?.id})`);
  const window = await clinic.sync();
  expect(window.error ?? null).toBeNull();
  expect(await held()).toEqual([stored('row', row?.id ?? 0, `invoice ${invoice?.id}`), stored('payment', payment)]);
  expect(await clinic.rows(`select from document where state = 'pending' or dirty`)).toEqual([]);
  const { installations } = await clinic.reconcile();
  expect(installations[0]?.equations.E6).toMatchObject({ ok: true });

  // A window requests it again once a day, and now it can be stored.
  await clinic.asOwner('drop trigger poison on mirror_record');
  await clinic.rows('update installation_state set census_taken_at = null');
  clinic.sandbox.live(2);
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect(await held()).toEqual([]);
  expect(await clinic.rows('select from put_aside')).toEqual([]);
  expect(await clinic.wrongBooks()).toEqual([]);
});
