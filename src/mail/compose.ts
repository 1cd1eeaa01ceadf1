import { dayAfter, daysBetween, localTimeOf } from '../domain/dates.ts';
import { labelOf } from '../domain/installation-name.ts';
import { meaningOfCheck, sentenceOf, todoOf } from '../domain/problem-texts.ts';
import { clip, visible } from '../domain/text.ts';
import type { CalendarDate } from '../terms.ts';
import { mailTexts as texts } from '../texts/mail.ts';
import { type MailLine, type Notice, type NoticeAbout, remarkSections } from './notices.ts';

/** The data for the text of a mail, besides its notices. */
export interface MailSetting {
  installation: { id: number; name: string | null; timezone: string; currency: string };
  recipient: string;
  /** The day of the mail, from which ages are counted. */
  day: CalendarDate;
  /** The number of earlier events that are not in the notices. */
  omitted: number;
  /** The names of clients by `kind/id`; null if the recipient gets no names. */
  names: ReadonlyMap<string, string> | null;
}

const width = 78;
const longestWord = 60;
const longestSubject = 150;

/** Subject and text of a mail. Nothing in it can end a header or control a terminal. */
export function composeMail(notices: readonly Notice[], setting: MailSetting): { subject: string; text: string } {
  const { installation, omitted, recipient } = setting;
  const label = word(labelOf(installation));
  const last = notices.at(-1);
  const earlier = notices.length - 1 + omitted;
  const fact = last === undefined ? '' : factOf(last);
  const subject = texts.subject({ label, fact: earlier > 0 ? texts.factWithMore({ fact, more: earlier }) : fact });
  const parts = [
    [texts.intro({ label })],
    ...(omitted > 0 ? [[texts.moreEvents({ more: omitted })]] : []),
    ...notices.flatMap((notice) => partsOf(notice, setting)),
    ['-- ', texts.footer({ recipient })],
  ];
  return {
    subject: clip(visible(subject), longestSubject),
    text: `${parts.map((lines) => lines.map((line) => wrapped(line)).join('\n')).join('\n\n')}\n`,
  };
}

function factOf(notice: Notice): string {
  switch (notice.about) {
    case 'checks':
      return notice.failing.length === 0
        ? texts.checks.okFact
        : texts.checks.brokenFact({ failing: notice.failing.join(', ') });
    case 'erp_refused':
      return texts.refused.fact(notice);
    case 'close':
      return texts.books.closeFact(notice);
    case 'reopen':
      return texts.books.reopenFact({ from: dayAfter(notice.through) });
    case 'mapping':
      return texts.mapping.fact(notice);
    case 'daily':
      return texts.daily.fact({
        parts: notice.sections
          .map((each) => texts.daily.factPart({ words: texts.daily.words[each.what], count: each.count }))
          .join(', '),
      });
    case 'monthly': {
      const month = notice.through.slice(0, 7);
      const count = notice.missing.length;
      return count === 0 ? texts.monthly.readyFact({ month }) : texts.monthly.missingFact({ month, count });
    }
  }
}

/** Paragraphs, each a list of lines. */
function partsOf(notice: Notice, setting: MailSetting): string[][] {
  const { id, timezone } = setting.installation;
  const local = (at: string) => localTimeOf(new Date(at), timezone);
  const todo = (sentence: string) => [texts.todo({ todo: sentence })];
  switch (notice.about) {
    case 'checks': {
      const at = texts.checks.at({ at: local(notice.at) });
      if (notice.failing.length === 0) return [[at, texts.checks.ok]];
      const isChain = notice.failing.some((name) => Object.hasOwn(texts.checks.names, name));
      const next = isChain ? texts.checks.chainTodo : texts.checks.equationsTodo;
      return [
        [
          at,
          ...notice.failing.map((name) =>
            texts.checks.broken({ name: word(name), meaning: meaningOfCheck(name) || word(name) }),
          ),
        ],
        todo(next({ installation: id })),
      ];
    }
    case 'erp_refused':
      return refusedParts(notice, setting, texts.refused.found({ at: local(notice.at) }));
    case 'close':
    case 'reopen': {
      const { by, second, through } = notice;
      const persons = texts.books.persons({
        by: by === null ? texts.books.unknown : word(by),
        second: second === null ? null : word(second),
      });
      const said = { through, from: dayAfter(through), at: local(notice.at), persons };
      const sentence = notice.about === 'close' ? texts.books.closed(said) : texts.books.reopened(said);
      return [[sentence], todo(texts.books.todo({ installation: id }))];
    }
    case 'mapping': {
      const { number, version, approved_by: approver, by } = notice;
      const changed = texts.mapping.changed({
        number,
        version: version === null ? null : word(version),
        at: local(notice.at),
      });
      const source = by === null ? texts.mapping.byFile : texts.mapping.byPerson({ person: word(by) });
      const approved = approver === null ? [] : [texts.mapping.approvedBy({ person: word(approver) })];
      return [[changed, source, ...approved], todo(texts.mapping.todo({ installation: id }))];
    }
    case 'daily':
      return [
        ...notice.sections.flatMap((section) => sectionParts(section, setting)),
        [texts.daily.explain({ installation: id })],
      ];
    case 'monthly':
      return monthlyParts(notice, id);
  }
}

function refusedParts(
  { code, count, lines }: NoticeAbout<'erp_refused'>,
  setting: MailSetting,
  found: string,
): string[][] {
  const known: Partial<Record<string, { sentence: string; todo: string }>> = texts.refused.companies;
  const { sentence, todo } = known[code] ?? { sentence: sentenceOf(code), todo: todoOf(code) };
  const command = texts.problemsCommand({ installation: setting.installation.id, code });
  return [
    [found, `${word(code)}: ${sentence}`],
    ...(count === 0 ? [] : [[...documentLines(lines, setting), ...more(count - lines.length, command)]]),
    [texts.todo({ todo })],
  ];
}

function sectionParts(section: NoticeAbout<'daily'>['sections'][number], setting: MailSetting): string[][] {
  const { what, count, sums, lines } = section;
  const { id: installation, currency } = setting.installation;
  const isRemark = remarkSections.some((each) => each === what);
  const command =
    what === 'late' || what === 'missing'
      ? texts.lateCommand({ installation })
      : texts.problemsCommand({ installation, code: isRemark ? what : null });
  const summed = sums.map(({ amount, kind, count: each }) =>
    texts.daily.sum({
      documents: texts.daily.counts[kind]({ count: each }),
      amount: amount === null ? null : `${amount} ${currency}`,
    }),
  );
  const byCode = [...Map.groupBy(lines, ({ code }) => code)];
  return [
    [
      texts.daily.title({ ...section, title: texts.daily.sections[what] }),
      texts.daily.sums({ sums: summed.join('; ') }),
    ],
    ...byCode.map(([code, documents]) => [
      `${word(code)}: ${sentenceOf(code)}`,
      ...documentLines(documents, setting),
      texts.todo({ todo: todoOf(code) }),
    ]),
    ...(count > lines.length ? [more(count - lines.length, command)] : []),
  ];
}

function monthlyParts({ through, missing }: NoticeAbout<'monthly'>, installation: number): string[][] {
  const todo = [texts.todo({ todo: texts.monthly.todo({ installation, through }) })];
  if (missing.length === 0) return [[texts.monthly.ready({ through })], todo];
  const items = missing.flatMap(({ item, count, parts }) => {
    // The parts of the differences are the equations.
    const named = Object.entries(parts).map(([part, n]) =>
      item === 'differences' ? word(part) : `${word(part)} ${n}`,
    );
    return [`- ${texts.monthly.items[item]({ n: count })}`, ...(named.length === 0 ? [] : [`    ${named.join(', ')}`])];
  });
  return [[texts.monthly.intro({ through })], items, todo];
}

/** Example: `  invoice 123 (S-2026-17)  181.00 EUR  2026-09-10  6 days old  Anna Virtanen`. */
function documentLines(lines: readonly MailLine[], { installation, day, names }: MailSetting): string[] {
  return lines.map(({ ref, document, number, amount, date }) => {
    const name = ref === null ? undefined : names?.get(`${ref.kind}/${ref.id}`);
    const cells = [
      number === null ? word(document) : `${word(document)} (${word(number)})`,
      amount === null ? texts.unknownAmount : `${amount} ${installation.currency}`,
      ...(date === null ? [texts.noDate] : [date, texts.age({ days: Math.max(0, daysBetween(date, day)) })]),
      ...(name === undefined ? [] : [word(name)]),
    ];
    return `  ${cells.join('  ')}`;
  });
}

function more(left: number, command: string): string[] {
  return left > 0 ? [`  ${texts.more({ more: left, command })}`] : [];
}

/** A text from outside: one line, short, without characters that control or hide. */
function word(text: string): string {
  return clip(visible(text), longestWord);
}

/** A long line as several lines, with the indentation of the first one. A long word stays whole. */
function wrapped(line: string): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  if (line.length <= width || indent.length > 0) return line;
  const lines: string[] = [];
  let current = '';
  for (const part of line.split(' ')) {
    if (current !== '' && current.length + 1 + part.length > width) {
      lines.push(current);
      current = part;
    } else current = current === '' ? part : `${current} ${part}`;
  }
  return [...lines, current].join('\n');
}
