import { catalogue } from '../catalogue.ts';

/** What to do about each kind of failed request to the practice API. */
export const practiceTodos = catalogue('errors/practice-todos.practiceTodos', {
  unreachable: 'Check base_url and the network. The next window tries again automatically.',
  timeout: 'The practice API is slow. The next window tries again automatically.',
  unauthorized: 'Check the token, or the client id and secret, of this installation.',
  forbidden: 'Give the application the permission for this endpoint in the practice software.',
  not_found:
    'Check base_url and the installation id. If they are right, the record or the endpoint does not exist there.',
  throttled: 'Check whether another program uses this installation, too. The next window tries again automatically.',
  server_error:
    'The practice API failed, and the request is tried again automatically. If the error persists, report it to the vendor.',
  not_json: 'Check that base_url is the address of the practice API, not of a login or maintenance page.',
  malformed_response:
    'Check base_url and mappings/practice-api.yaml. If they are right, report the answer to the vendor.',
  malformed_record:
    'Check the field names in mappings/practice-api.yaml. If they are right, report the record to the vendor.',
  other_tenant:
    'Check base_url, the id of the installation and its token: the practice API returns records of another installation.',
  answer_too_large:
    'Find the large record in the practice software and shorten it, or report the answer to the vendor.',
  refused: 'Correct the fields in the message, if it names any, in the practice software or in the settings.',
  redirected: 'Correct base_url to the final address of the practice API (https instead of http, for example).',
});
