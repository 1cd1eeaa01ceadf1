import type { Config } from '../../config/load-config.ts';
import { MailError, trySmtp } from '../../mail/smtp.ts';
import { checkNames, doctorTexts as texts } from '../../texts/commands/doctor.ts';
import { type Check, passed } from './check.ts';

/** Connects to the mail server and signs in, and says who gets mail. Sends nothing. */
export async function checkMail({ mail }: Pick<Config, 'mail'>, signal: AbortSignal): Promise<Check[]> {
  if (mail === null) return [];
  const { host, port, login } = mail.smtp;
  try {
    await trySmtp(mail.smtp, signal);
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const { message, todo } = error.plain;
    return [{ installation: null, check: checkNames.mail, status: 'fail', message, todo }];
  }
  const recipients = mail.recipients.map(({ address, send, installations }) =>
    texts.mailRecipient({
      ...{ address, kinds: send.join(', ') },
      installations:
        installations === null ? texts.allInstallations : texts.someInstallations({ ids: installations.join(', ') }),
    }),
  );
  const said = { server: `${host}:${port}`, user: login?.user ?? null, recipients: recipients.join(', ') };
  return [passed(null, checkNames.mail, texts.mail(said))];
}
