import { writeFile } from 'node:fs/promises';
import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { type ApiTargetConfig, isApiTarget } from '../../config/erp.ts';
import { type MeasuredFile, measuredFacts } from '../../config/measured.ts';
import { UserError } from '../../domain/errors.ts';
import { plainErrorOf } from '../../erp/deliver/delivery-errors.ts';
import { pacedTarget } from '../../erp/erp-pace.ts';
import { ErpError, type ErpTarget, type IdentifiedCompany } from '../../erp/port.ts';
import { type ProbeStep, probeErp } from '../../erp/probe/probe.ts';
import { saysSandbox } from '../../erp/probe/sandbox.ts';
import { planOf } from '../../queries/erp-check.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { probeTexts } from '../../texts/commands/results.ts';
import { probeErrors } from '../../texts/errors/deliveries.ts';
import { count } from '../../wording/words.ts';
import { agreed } from '../acting.ts';
import { chosenDeliveries, refuseBarred } from '../books.ts';
import { type Definition, installation, option, yes } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  accounts?: [string, string];
  out: string;
  yes?: true;
}

const answer = z.strictObject({
  erp: z.string(),
  company: z.string(),
  /** Null if nothing was sent. */
  file: z.string().nullable(),
  facts: measuredFacts,
  /** Ids of entries that could not be withdrawn. */
  left: z.array(z.string()),
});

export const command: Definition<Options> = {
  description:
    'Measures in a demo company what decides whether entries are lost or doubled after a failure: when a look-up shows a new entry, what a repeated key or request does, how long the server works after a cut, and what it does with closed periods. It creates entries of a cent, and withdraws those that it can, also after Ctrl-C. It refuses a company whose name, database or address does not contain a word such as demo, sandbox or test. The result is a file for the key `erp.measured` of the configuration.',
  options: [
    installation,
    option('--accounts <two>', 'two accounts of the ERP that need no party, such as 1910,3000', twoAccounts),
    new Option('--out <file>', 'file to write').default('measured.json'),
    yes,
  ],
  examples: [
    ['vetledger erp probe --installation 4711', 'once for each kind of ERP, in its demo company'],
    ['vetledger erp probe --accounts 1910,3000 --out measured.json --yes --json', 'without books, from a script'],
  ],
  answer,
  run: probe,
};

function twoAccounts(value: string): [string, string] {
  const [one, other, ...rest] = value.split(',').map((account) => account.trim());
  if (!one || !other || rest.length > 0) throw new InvalidArgumentError(probeErrors.accountsForm);
  return [one, other];
}

function probe(context: CommandContext, options: Options): Promise<number> {
  return withApp(context, { temporal: false, handlesSignal: true }, async (app) => {
    const chosen = await chosenDeliveries(app, options.installation);
    const [first] = chosen;
    if (chosen.length !== 1 || first === undefined) throw usageError(probeErrors.oneInstallation, 'erp probe');
    await refuseBarred(app, chosen);
    const { erp } = first;
    if (!isApiTarget(erp)) throw usageError(probeErrors.notAnApi, 'erp probe');
    const target = pacedTarget(app.delivery.target(first), { db: app.db, clock: systemClock });
    const { plan } = await planOf(app, first, first.mapping, { writes: true, withBooks: true });
    const request = { signal: context.signal, priority: 0 };
    const company = await explained(target, async () => (await target.identify?.(request)) ?? target.company);
    refuseReal(erp, company);
    const accounts = options.accounts ?? accountsIn(plan);
    const question = probeTexts.question({ company: company.id, url: erp.url });
    const empty = { erp: erp.kind, company: company.id, file: null, facts: {}, left: [] };
    if (!(await agreed(context, options, question, 'erp probe'))) {
      await context.result(empty, () => probeTexts.nothing);
      return 0;
    }
    const ports = {
      ...{
        target,
        accounts,
        journal: plan.journals[0] ?? Object.values(first.mapping.erp.journals)[0] ?? '',
        day: plan.dates[0] ?? '',
      },
      ...{ clock: systemClock, signal: context.signal },
      onStep: (step: ProbeStep) => context.note(context.show(() => probeTexts[step])),
    };
    const { facts, left } = await explained(target, () => probeErp(ports));
    const at = app.clock().toISOString();
    const file: MeasuredFile = { erp: erp.kind, url: erp.url, company: company.id, measured_at: at, facts };
    await writeFile(options.out, `${JSON.stringify(file, null, 2)}\n`);
    await context.result({ ...empty, file: options.out, facts, left }, () => resultText({ facts, left }, options.out));
    return 0;
  });
}

/** The result of requests to the ERP. An error of the ERP becomes one for the operator. */
async function explained<Result>(target: Pick<ErpTarget, 'company'>, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ErpError)) throw error;
    throw new UserError(plainErrorOf(error, target.company), 3);
  }
}

function refuseReal({ url, database, company: name }: ApiTargetConfig, { isSandbox, id }: IdentifiedCompany): void {
  const names = [name, database, new URL(url).host, id].filter((each) => each !== null && each !== '');
  if (isSandbox === true || saysSandbox(names)) return;
  throw new UserError(probeErrors.notSandbox({ names: names.join(', ') }), 2);
}

/** Two accounts that need no party. Accounts of sales come last, since an ERP may add VAT to them. */
function accountsIn({ accounts }: Awaited<ReturnType<typeof planOf>>['plan']): [string, string] {
  const isSale = ({ roles }: { roles: string[] }) => Number(roles.includes('revenue') || roles.includes('vat'));
  const [one, other] = accounts
    .filter(({ isControl }) => !isControl)
    .toSorted((a, b) => isSale(a) - isSale(b))
    .map(({ account }) => account);
  if (one === undefined || other === undefined) throw new UserError(probeErrors.noAccounts(), 2);
  return [one, other];
}

function resultText({ facts, left }: Pick<z.infer<typeof answer>, 'facts' | 'left'>, file: string): string {
  return [
    ...Object.keys(measuredFacts.shape).map(
      (fact) => `${fact}: ${facts[fact as keyof typeof facts] ?? probeTexts.unmeasured}`,
    ),
    ...(left.length > 0 ? [probeTexts.left({ entries: count(left.length, 'entry'), count: left.length })] : []),
    probeTexts.written({ file }),
  ].join('\n');
}
