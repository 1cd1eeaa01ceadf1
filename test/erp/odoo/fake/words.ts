// The texts of errors in English and in Odoo's Finnish translation. Without a language in the context, a client gets
// the user's language.

import type { Env } from './env.ts';
import { userError } from './errors.ts';

const refusedUnlink =
  "You can't delete a posted journal item. Don’t play games with your accounting records; reset the journal entry to draft before deleting it.";

const finnish: Record<string, string> = {
  'Record does not exist or has been deleted.': 'Tietuetta ei ole olemassa tai se on poistettu.',
  "You are not allowed to access '%s' (%s) records.": "Et saa käyttää '%s' (%s) tietueita.",
  "You are not allowed to create '%s' (%s) records.": "Et saa luoda '%s' (%s) tietueita.",
  "You are not allowed to delete '%s' (%s) records.": 'Et saa poistaa tietueita "%s" (%s).',
  "You are not allowed to modify '%s' (%s) records.": "Et saa muuttaa '%s' (%s) tietueita.",
  'Access to unauthorized or invalid companies.': 'Pääsy luvattomiin tai virheellisiin yrityksiin.',
  'The entry %s (id %s) must be in draft.': 'Merkinnän %s (id %s) on oltava luonnos.',
  'You need to add a line before posting.': 'Sinun on lisättävä rivi ennen kirjaamista.',
  'The entry is not balanced.': 'Kirjaus ei täsmää.',
  'You are trying to reconcile some entries that are already reconciled.':
    'Yrität täsmäyttää yhteen jo täsmäytetyt merkinnät.',
  'You can only reconcile posted entries.': 'Voit täsmäyttää vain kirjattuja tapahtumia.',
  'You cannot modify the following readonly fields on a posted move: %s':
    'Et voi muuttaa seuraavia lukukäyttöisiä kenttiä lähetetyssä siirrossa: %s',
  "You don't have the access rights to post an invoice.": 'Sinulla ei ole oikeutta kirjata laskua kirjanpitoon.',
  "No matching record found for %s '%s' in field '%s'": 'Yhteensopivaa tietoa %s "%s" ei löytynyt kentästä"\'%s"',
  'You cannot delete this entry, as it has already consumed a sequence number and is not the last one in the chain. You should probably revert it instead.':
    'Et voi poistaa tätä merkintää, koska se on jo kuluttanut järjestysnumeron eikä ole ketjun viimeinen. Todennäköisimmin sinun tulisi palauttaa se.',
  'You cannot add/modify entries prior to and inclusive of the lock date %s.':
    'Et voi lisätä/muokata vientejä ennen lukituspäivämäärää %s se mukaan lukien.',
  [refusedUnlink]:
    'Et voi poistaa julkaistua päiväkirjamerkintää. Palauta päiväkirjamerkintä luonnokseen ennen sen poistamista.',
};
const finnish19: Record<string, string> = {
  'Automatic Balancing Line': 'Automaattinen tasausrivi',
  [refusedUnlink]:
    'Et voi poistaa kirjattua kirjausriviä. Älä pelleile kirjanpidon kanssa; palauta kirjaus luonnokseksi ennen sen poistamista.',
};

/**
 * An Odoo text with its values, in the language of the request. A text without a translation stays English, as in Odoo.
 */
export function speak(env: Env, text: string, values: readonly (string | number)[]): string {
  const translated = languageOf(env) === 'fi_FI' ? (env.version === 19 && finnish19[text]) || finnish[text] : undefined;
  const left = [...values];
  return (translated ?? text).replace(/%s/g, () => String(left.shift() ?? ''));
}

/** Throws if the context names a language that is not installed (18, 19). Odoo 17 uses the user's language instead. */
export function checkLanguage(env: Env): void {
  const { lang } = env.context;
  if (env.version === 17 || typeof lang !== 'string' || isInstalled(env, lang)) return;
  throw userError(`Invalid language code: ${lang}`);
}

function languageOf(env: Env): string {
  const { lang } = env.context;
  return typeof lang === 'string' && isInstalled(env, lang) ? lang : env.userLanguage;
}

function isInstalled(env: Env, code: string): boolean {
  return env.store.rows('res.lang').some((row) => row.code === code && row.active === true);
}
