import { type Command, Option } from 'commander';
import type { MappingCheckOptions } from '../commands/mapping.ts';
import { type Define, group } from './define.ts';
import { installation } from './options.ts';

/** Commands for setting up and trying out: mapping, doctor, budget, sandbox. */
export function defineSetupCommands(program: Command, define: Define): void {
  const mapping = group(program, 'mapping', 'mapping files');
  define<MappingCheckOptions>(mapping, 'check <file>', {
    summary: 'check a mapping file, run its cases, and compare it with what the source uses',
    description:
      'Exit code 2 when the file, or the file of its cases beside it (`NAME.specs.yaml`), is wrong. Runs the cases. With `chart` in the file: refuses accounts that the chart does not have, that are closed in it, or whose type their role cannot have, and warns of two roles on one account. With a configuration and a database: lists the accounts, VAT groups, payment types and roles that the source uses and the file lacks, with counts and exact amounts. Exit code 1 when a case fails, or something is lacking or wrong. With --erp or `chart: erp`: compares the file with the chart of the ERP, too, without writing there.',
    options: [
      installation,
      new Option('--erp', 'compare with accounts, tax codes, dimensions, journals and parties of the ERP, too'),
    ],
    examples: [
      ['vetledger mapping check mappings/demo.yaml', 'before it is put to use'],
      ['vetledger mapping check mappings/finland.yaml --installation 4711 --json', 'for one installation, as JSON'],
      ['vetledger mapping check mappings/tryton-demo.yaml --erp', 'and with the chart of the ERP'],
    ],
    action: async (context, options, [file = '']) =>
      (await import('../commands/mapping.ts')).check(context, options, file),
  });
  define<{ installation?: number }>(mapping, 'history', {
    summary: 'which version of the mapping posted what',
    description:
      'Every entry keeps the hash of the mapping’s content that it was posted by, and the `version` and `approved_by` of the file where it has them. Reads the whole journal.',
    options: [installation],
    examples: [
      ['vetledger mapping history', 'every mapping that entries were posted by'],
      ['vetledger mapping history --json', 'the same as JSON'],
    ],
    action: async (context, options) => (await import('../commands/mapping-history.ts')).history(context, options),
  });
  define<{ installation?: number; out?: string }>(mapping, 'init', {
    summary: 'propose a mapping from what the source uses',
    description:
      'Reads the account number list of the practice software, and the VAT groups, payment types and departments that the mirror holds. Accounts that are called gift cards or vouchers are taken for what is owed, not earned. What only the accountant can choose is left empty and marked; until it is filled in, the documents that need it are held.',
    options: [
      installation,
      new Option('--out <file>', 'write to this file, which must not exist yet (default: stdout)'),
    ],
    examples: [
      ['vetledger mapping init', 'have a look'],
      ['vetledger mapping init --installation 4711 --out mappings/4711.yaml', 'a file to fill in'],
    ],
    action: async (context, options) => (await import('../commands/mapping-init.ts')).init(context, options),
  });
}
