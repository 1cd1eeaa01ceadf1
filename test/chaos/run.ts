// npm run chaos …: rounds of real processes that are killed, test/chaos/processes/run.ts
// npm run chaos -- --erp tryton …: rounds of delivery into a real Tryton, test/erp/tryton/chaos/run.ts
const erps: Record<string, string> = { tryton: '../erp/tryton/chaos/run.ts' };
const erp = process.argv[process.argv.indexOf('--erp') + 1] ?? '';
const { run }: { run(args: string[]): Promise<number> } = await import(erps[erp] ?? './processes/run.ts');
process.exit(await run(process.argv.slice(2)));
