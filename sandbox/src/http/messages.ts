// Messages for values that a schema refuses without a message. They say what to send, in the words of Django REST
// Framework.
import type { z } from 'zod';

const ofTypes: Record<string, string> = {
  string: 'Not a valid string.',
  number: 'A valid number is required.',
  int: 'A valid integer is required.',
  boolean: 'Must be a valid boolean.',
  array: 'Expected a list of items.',
  tuple: 'Expected a list of items.',
  object: 'Expected an object.',
  record: 'Expected an object.',
};

const ofFormats: Record<string, string> = { url: 'Enter a valid URL.', email: 'Enter a valid email address.' };

const units: Record<string, string> = { string: ' characters', array: ' items', object: ' keys', record: ' keys' };

/** The message of an issue, for `safeParse(value, { error: whatToSend })`. A schema's message has precedence. */
export const whatToSend: z.core.$ZodErrorMap = (issue) => {
  if (issue.input === undefined && issue.code !== 'unrecognized_keys') return 'This field is required.';
  if (issue.input === null) return 'This field may not be null.';
  switch (issue.code) {
    case 'invalid_type':
      return ofTypes[issue.expected] ?? 'Not a valid value.';
    case 'too_small':
    case 'too_big':
      return limited(issue);
    case 'invalid_value':
      return `Send one of: ${issue.values?.join(', ')}.`;
    case 'unrecognized_keys':
      return 'This field is not known.';
    case 'invalid_format':
      return ofFormats[issue.format] ?? 'Not a valid value.';
    case 'invalid_union':
      // The first alternative of a union is the usual one.
      return issue.errors?.[0]?.[0]?.message ?? 'Not a valid value.';
    default:
      return 'Not a valid value.';
  }
};

const limited = (issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig>): string => {
  const isLow = issue.code === 'too_small';
  const bound = isLow ? issue.minimum : issue.maximum;
  const unit = units[issue.origin];
  if (unit === undefined) return `Ensure this value is ${isLow ? 'greater' : 'less'} than or equal to ${bound}.`;
  return `Ensure this field has ${isLow ? 'at least' : 'no more than'} ${bound}${unit}.`;
};
