import { catalogue } from '../catalogue.ts';

/** Messages of failed requests to the practice API. The error's code and `todo` come from the kind of failure. */
export const practiceTexts = catalogue('errors/practice.practiceTexts', {
  // The status of the answer
  tokenRefused: 'the access token was not accepted (401)',
  forbidden: 'not allowed (403)',
  notFound: 'not found (404)',
  throttled: 'too many requests (429)',
  serverFailed: ({ status }: { status: number }): string => `the server failed (${status})`,
  refused: ({ status }: { status: number }): string => `refused (${status})`,
  redirected: ({ status }: { status: number }): string =>
    `answered with a redirect (${status}), which vetledger does not follow`,
  secretRefused: ({ status }: { status: number }): string => `the client id and secret were not accepted (${status})`,
  codes: ({ codes }: { codes: string }): string => `code ${codes}`,
  fields: ({ fields, count }: { fields: string; count: number }): string =>
    `${count === 1 ? 'field' : 'fields'} ${fields}`,

  // The body of the answer
  notJson: ({ status }: { status: number }): string => `the answer (${status}) is not JSON, or is incomplete`,
  noToken: 'the answer contains no usable access_token',
  listEmpty: ({ list }: { list: string }): string => `the answer of the ${list} list is empty`,
  notAList: ({ list }: { list: string }): string =>
    `the answer of the ${list} list is not a list: it has no usable count or results`,
  listTooLarge: ({ list, reason }: { list: string; reason: string }): string =>
    `the answer of the ${list} list is too large: ${reason}`,
  recordWithoutId: ({ list, field }: { list: string; field: string }): string =>
    `a record of the ${list} list has no usable ${field}`,
  allForeign: ({ list, reason }: { list: string; reason: string }): string =>
    `every record of a page of the ${list} list belongs to another installation or another resource; the first one: ${reason}`,
  noUsableId: ({ list, reason }: { list: string; reason: string }): string =>
    `no record of a page of the ${list} list has a usable id; the first one: ${reason}`,
  otherRecord: ({ kind, id, answered }: { kind: string; id: number; answered: number }): string =>
    `PATCH of ${kind} ${id} returned ${kind} ${answered}`,
  lockDateUnusable: ({ department, field }: { department: number; field: string }): string =>
    `the settings of department ${department} have no usable ${field}`,
  smallerPages: ({ error, size }: { error: string; size: number }): string =>
    `${error}; requesting ${size} records at a time`,
  lockDateUnknown: ({ error }: { error: string }): string => `${error}; its lock date remains unknown`,

  // external_info
  externalIdTaken: 'the practice software has another external id',
  externalIdMissing: ({ kind, id }: { kind: string; id: number }): string =>
    `the practice software accepted the external id of ${kind} ${id}, but shows none`,
  externalIdDiffers: ({ kind, id }: { kind: string; id: number }): string =>
    `the practice software accepted the external id of ${kind} ${id}, but shows another one`,
  externalInfoWithoutId: ({ kind, id }: { kind: string; id: number }): string =>
    `the external_info of ${kind} ${id} has no usable id`,
  externalInfoNotAnObject: ({ kind }: { kind: string }): string => `the external_info of a ${kind} is not an object`,

  // No answer
  answerTooLarge: ({ megabytes }: { megabytes: number }): string =>
    `the answer is larger than ${megabytes} MB and was refused`,
  budgetFull: ({ action, seconds }: { action: string; seconds: number }): string =>
    `the rate budget of ${action} had no room for a request within ${seconds} s`,
  signInPaused: ({ refusals, since, nextAt }: { refusals: number; since: string; nextAt: string }): string =>
    `the practice API has refused our sign-in ${refusals === 1 ? 'once' : `${refusals} times`} since ${since}; the next attempt is at ${nextAt}, or as soon as the secret has changed`,

  // The log
  givenUp: ({ error }: { error: string }): string => `${error}; given up`,
  tryingAgain: ({ error }: { error: string }): string => `${error}; trying again`,
});

/** The things for which a request to the practice API waits. */
export const practiceWaits = catalogue('errors/practice.practiceWaits', {
  token: 'a token of the practice API (sign-in)',
  newToken: 'a new token of the practice API (sign-in)',
  nextAttempt: ({ action, failed, most }: { action: string; failed: number; most: number }): string =>
    `the next attempt at ${action}, after attempt ${failed} of ${most} failed`,
  budget: ({ action }: { action: string }): string => `the rate budget of ${action}`,
  answer: ({ method, path }: { method: string; path: string }): string =>
    `an answer of the practice API (${method} ${path})`,
});

/** Errors in the description of a practice API (mappings/practice-api.yaml, and `practice_api` in the configuration). */
export const dialectTexts = catalogue('errors/practice.dialectTexts', {
  invalid: ({ places }: { places: string }): string => `The description of the practice API is not valid: ${places}`,
  todo: 'Correct these settings; mappings/practice-api.yaml shows all names.',
  whole: 'the whole description',
  pathInvalid: 'a path must end with a slash and have no query',
});
