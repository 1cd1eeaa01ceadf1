import type { Language } from '../../texts/catalogue.ts';

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** How long ago a time was, such as `5 minutes ago`, in the largest unit that fits. */
export function ago(time: Date, now: Date, language: Language): string {
  const seconds = Math.max(0, (now.getTime() - time.getTime()) / 1000);
  const [unit, size] = units.find(([, each]) => seconds >= each) ?? ['second', 1];
  return new Intl.RelativeTimeFormat(language, { numeric: 'always' }).format(-Math.floor(seconds / size), unit);
}
