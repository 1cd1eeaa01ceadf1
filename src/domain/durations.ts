import { aboutTexts } from '../texts/counts.ts';

/** A duration as an estimate: `about 40 seconds`, `about 61 minutes`, `about 5 hours 20 minutes`. */
export function about(seconds: number): string {
  if (seconds < 90) return aboutTexts.seconds({ n: Math.max(1, Math.round(seconds)) });
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return aboutTexts.minutes({ n: minutes });
  const tens = Math.round(minutes / 10) * 10;
  return aboutTexts.hours({ n: Math.floor(tens / 60), minutes: tens % 60 });
}

/** A range of two estimates: `about 40 to 61 minutes`. If both are the same, the text of `about`. */
export function between(least: number, most: number): string {
  const [from, to] = [about(least), about(most)];
  if (from === to) return from;
  const unit = ` ${to.split(' ').at(-1)}`;
  const isSameUnit = from.endsWith(unit) && to.split(' ').length === 3 && from.split(' ').length === 3;
  return `${isSameUnit ? from.slice(0, -unit.length) : from} to ${to.replace('about ', '')}`;
}
