import { Option } from 'commander';
import { z } from 'zod';
import { UserError } from '../../domain/errors.ts';
import { beginLogin, type LoginAttempt } from '../../erp/login/authorize.ts';
import { keepLogin, reachedCompany } from '../../erp/login/log-in.ts';
import { ErpError } from '../../erp/port.ts';
import { erpLoginTexts } from '../../texts/commands/erp-login.ts';
import { loginErrors } from '../../texts/errors/erp-login.ts';
import { actedBy, statedBy } from '../acting.ts';
import { by, type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { chosenLogin } from '../erp-logins.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  by?: string;
  reason: string;
}

const answer = z.strictObject({
  installation: z.number(),
  company: z.strictObject({ id: z.string(), name: z.string() }).nullable(),
});

export const command: Definition<Options> = {
  description:
    'For ERPs whose tokens a person gives. Prints an address. Open it in a browser on any machine, sign in to the ERP and agree. Then paste the address to which the browser was sent. vetledger shows the name of the company, and stores the login only after your yes. Nothing is stored before, and Ctrl-C leaves nothing behind.',
  options: [installation, by, new Option('--reason <text>', 'the reason; it is recorded').default('login')],
  examples: [
    ['vetledger erp login --installation 4711', 'at the set-up, and when `doctor` reports `erp_login_needed`'],
    ['vetledger erp check --installation 4711', 'then check the company'],
  ],
  answer,
  run: logIn,
};

/** How often a person may paste a wrong text. */
const mostPastes = 3;

function logIn(context: CommandContext, options: Options): Promise<number> {
  const stated = statedBy(options, 'erp login');
  return withApp(context, { temporal: false, handlesSignal: true }, async (app) => {
    const { installation: id, login, ports } = await chosenLogin(app, options.installation);
    const acted = await actedBy(app.db, stated);
    const attempt = await beginLogin(login, ports.log);
    try {
      const tokens = await pastedTokens(context, attempt, { ...login, installation: id });
      let isKept = false;
      try {
        const { signal } = context;
        const company = await reachedCompany(login, tokens, { log: ports.log, signal }).catch((error: unknown) => {
          if (!(error instanceof ErpError)) throw error;
          throw new UserError(loginErrors.failed({ erp: login.erp, reason: error.message }), 1);
        });
        const named = { erp: login.erp, ...company };
        isKept = (await context.confirm(erpLoginTexts.isCompany({ ...named, installation: id }))) === true;
        if (isKept) await keepLogin(ports, login, tokens, company, { installation: id, by: acted });
        const document = { installation: id, company: isKept ? company : null };
        const { unusedDays: days } = login;
        await context.result(document, () =>
          isKept
            ? [erpLoginTexts.loggedIn(named), ...(days === null ? [] : [erpLoginTexts.unusedDays({ days })])].join('\n')
            : erpLoginTexts.notKept,
        );
        return 0;
      } finally {
        if (!isKept) await attempt.revoke(tokens.refresh);
      }
    } finally {
      attempt.close();
    }
  });
}

async function pastedTokens(
  context: CommandContext,
  attempt: LoginAttempt,
  { erp, redirectUrl, installation: id }: { erp: string; redirectUrl: string; installation: number },
) {
  const intro = () =>
    [
      erpLoginTexts.open({ erp, installation: id }),
      '',
      `  ${attempt.address}`,
      '',
      erpLoginTexts.agree({ redirectUrl }),
    ].join('\n');
  context.note(context.show(intro));
  for (let pastes = 1; ; pastes++) {
    const pasted = await context.ask(erpLoginTexts.paste);
    if (pasted === null) throw new UserError(loginErrors.noTerminal(), 2);
    const tokens = await attempt.tokens(pasted);
    if (tokens !== null) return tokens;
    if (pastes >= mostPastes) throw new UserError(loginErrors.otherAddress(), 1);
    context.note(erpLoginTexts.notIt);
  }
}
