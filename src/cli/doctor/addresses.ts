import type { InstallationConfig } from '../../config/load-config.ts';
import { todoOf } from '../../domain/problem-texts.ts';
import { clip } from '../../domain/text.ts';
import type { ListAnswer } from '../../practice/client.ts';
import { isJsonObject } from '../../records/json.ts';
import { receivedIn } from '../../sync/walk/count-proof.ts';
import { type RecordKind, recordKinds } from '../../terms.ts';
import { checkNames, listNames, doctorPracticeTexts as texts } from '../../texts/commands/doctor.ts';
import type { Check } from './check.ts';

/** The first page of each list that could be read. */
export type Answers = Partial<Record<RecordKind, ListAnswer>>;

/** Maximum length of the shown host names. */
const longestHosts = 200;

/**
 * Checks the addresses of the records on the first pages (ACCOUNTING P6). Another host is one warning, because the source may be
 * behind a proxy. Records of another installation, or without a usable id, give a result per list.
 */
export function checkAddresses({ id, baseUrl }: InstallationConfig, answers: Answers): Check[] {
  const strangers = recordKinds.flatMap((kind) => strangersOf(id, kind, answers[kind]));
  return [...strangers, hosts(id, baseUrl, answers)];
}

function strangersOf(installation: number, kind: RecordKind, answer: ListAnswer | undefined): Check[] {
  const unusable = answer?.unusable ?? [];
  const foreign = unusable.filter(({ code }) => code === 'foreign_record');
  const reported = foreign.length > 0 ? foreign : unusable;
  const [first] = reported;
  if (answer === undefined || first === undefined) return [];
  const all = receivedIn(answer);
  const what = foreign.length > 0 ? texts.otherInstallation : texts.noUsableId;
  const message = texts.strangers({
    ...{ count: reported.length, all, list: listNames[kind], what },
    ...{ position: first.position, why: first.why },
  });
  const status = foreign.length === all ? 'fail' : 'warn';
  return [{ installation, check: checkNames.addresses, status, message, todo: todoOf(first.code) }];
}

function hosts(installation: number, baseUrl: string, answers: Answers): Check {
  const own = hostOf(baseUrl);
  const named = Object.values(answers).flatMap(({ results }) => results.map(({ value }) => hostIn(value)));
  const others = [...new Set(named)].filter((host) => host !== null && host !== own);
  if (others.length === 0) {
    return { installation, check: checkNames.addresses, status: 'ok', message: texts.hostsAgree, todo: null };
  }
  const other = texts.otherHosts({ hosts: clip(others.join(', '), longestHosts), own: String(own) });
  return { installation, check: checkNames.addresses, status: 'warn', ...other };
}

function hostOf(address: string): string | null {
  return URL.canParse(address) ? new URL(address).host || null : null;
}

function hostIn(value: unknown): string | null {
  return isJsonObject(value) && typeof value.url === 'string' ? hostOf(value.url) : null;
}
