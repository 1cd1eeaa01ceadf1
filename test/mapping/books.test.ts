import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { vetledger } from '../cli/support.ts';
import { startTestClinic } from '../support/clinic.ts';

const finland = fileURLToPath(new URL('../../mappings/finland.yaml', import.meta.url));

test('a clinic posted by rules: nothing lacks, nothing is held, the books reconcile', async () => {
  const clinic = await startTestClinic({ invoices: 120, mapping: finland });
  try {
    expect(await clinic.sync()).toMatchObject({ outcome: 'closed', held: 0 });
    const checked = await vetledger(['mapping', 'check', finland, '--json', '--config', clinic.config], clinic.env);
    expect(checked.json()).toMatchObject({ ok: true, compared: true, specs: { failed: [] }, lacks: [] });
    expect(await clinic.reconcile()).toMatchObject({ ok: true });
    // Every revenue line has the account of its rate; this query does not use the mapping's code.
    const revenue = await clinic.rows<{ account: string; vat_group: string; rate: string }>(
      `select distinct account, vat_group, trim_scale(vat_rate)::text as rate from entry_line where role = 'revenue'`,
    );
    const byRate: Record<string, string> = { '25.5': '3000', '13.5': '3001', '10': '3002', '0': '3003' };
    expect(revenue.length).toBeGreaterThan(3);
    // Gift cards that the demo's clinic sells are a liability.
    const [sold] = await clinic.rows<{ owed: string; rows: string }>(
      `select (select sum(amount) from entry_line where role = 'gift_card_liability' and account = '2949' and side = 'credit')::text as owed,
         (select sum((raw ->> 'sum')::numeric) from mirror_record where kind = 'row' and raw ->> 'account_number' = '2411')::text as rows`,
    );
    expect(Number(sold!.owed)).toBeGreaterThan(0);
    expect(Number(sold!.owed)).toBe(Number(sold!.rows));
    for (const { account, vat_group, rate } of revenue) {
      expect(account).toBe(vat_group === 'EU sales 0 %' ? '3340' : byRate[rate]);
    }
  } finally {
    await clinic.stop();
  }
});
