import { signInTexts } from '../../../texts/console/console.ts';
import { passwordLength } from '../../users/passwords.ts';

/** What is wrong with a new password, as a text that is made later. Null if nothing is. */
export function passwordFault({ password = '', again }: Readonly<Record<string, string>>): (() => string) | null {
  const { min, max } = passwordLength;
  if (password.length < min || password.length > max) return () => signInTexts.passwordShort({ min, max });
  return password === again ? null : () => signInTexts.passwordDiffers;
}
