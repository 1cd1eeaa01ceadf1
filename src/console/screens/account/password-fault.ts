import { signInTexts } from '../../../texts/console/console.ts';
import { passwordLength } from '../../users/passwords.ts';

/** The fault of a new password. The function makes its text in the language of the page. Null without a fault. */
export function passwordFault({ password = '', again }: Readonly<Record<string, string>>): (() => string) | null {
  const { min, max } = passwordLength;
  if (password.length < min || password.length > max) return () => signInTexts.passwordShort({ min, max });
  return password === again ? null : () => signInTexts.passwordDiffers;
}
