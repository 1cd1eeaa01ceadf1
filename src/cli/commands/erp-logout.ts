import { Option } from 'commander';
import { z } from 'zod';
import { endLogin, loggedInCompany } from '../../erp/login/log-in.ts';
import { erpLoginTexts } from '../../texts/commands/erp-login.ts';
import { actedBy, agreed, statedBy } from '../acting.ts';
import { by, type Definition, installation, yes } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { chosenLogin } from '../erp-logins.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  by?: string;
  reason: string;
  yes?: true;
}

const answer = z.strictObject({ installation: z.number(), ended: z.boolean(), revoked: z.boolean() });

export const command: Definition<Options> = {
  description:
    'Revokes the login in the ERP and deletes its tokens. Deliveries to the company wait until the next login. Posting and windows continue.',
  options: [installation, by, new Option('--reason <text>', 'the reason; it is recorded').default('logout'), yes],
  examples: [['vetledger erp logout --installation 4711', 'before another person or app takes over']],
  answer,
  run: logOut,
};

function logOut(context: CommandContext, options: Options): Promise<number> {
  const stated = statedBy(options, 'erp logout');
  return withApp(context, { temporal: false, handlesSignal: true }, async (app) => {
    const { installation: id, login, ports } = await chosenLogin(app, options.installation);
    const company = await loggedInCompany(ports, login);
    const { erp } = login;
    if (company === null) {
      const document = { installation: id, ended: false, revoked: false };
      await context.result(document, () => erpLoginTexts.none({ erp }));
      return 0;
    }
    const acted = await actedBy(app.db, stated);
    const named = { erp, name: company.name, installation: id };
    const isAgreed = await agreed(context, options, erpLoginTexts.endQuestion(named), 'erp logout');
    const { signal } = context;
    const change = { installation: id, by: acted };
    const isRevoked = isAgreed && (await endLogin({ ...ports, signal }, login, change)).isRevoked;
    await context.result({ installation: id, ended: isAgreed, revoked: isRevoked }, () => {
      if (!isAgreed) return '';
      const ended = erpLoginTexts.ended(named);
      return isRevoked ? ended : [ended, erpLoginTexts.notRevoked({ erp })].join('\n');
    });
    return 0;
  });
}
