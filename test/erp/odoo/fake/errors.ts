// Errors as Odoo raises them: the class that a client is told, and its words.

export class OdooError extends Error {
  /** Class with its module, as `error.data.name` has it. */
  readonly exception: string;

  constructor(exception: string, message: string) {
    super(message);
    this.exception = exception;
  }
}

const odoo = (name: string) => (message: string) => new OdooError(`odoo.exceptions.${name}`, message);

export const userError = odoo('UserError');
export const validationError = odoo('ValidationError');
export const accessError = odoo('AccessError');
export const missingError = odoo('MissingError');
export const accessDenied = () => odoo('AccessDenied')('Access Denied');
export const redirectWarning = odoo('RedirectWarning');
export const valueError = (message: string) => new OdooError('builtins.ValueError', message);
export const keyError = (message: string) => new OdooError('builtins.KeyError', message);
/** Two transactions in each other's way, after Odoo's own five attempts. */
export const serializationFailure = () =>
  new OdooError('psycopg2.errors.SerializationFailure', 'could not serialize access due to concurrent update\n');

/** HTTP status of an error at `/json/2`. */
export function statusOf({ exception }: OdooError): number {
  switch (exception) {
    case 'odoo.exceptions.UserError':
    case 'odoo.exceptions.ValidationError':
    case 'odoo.exceptions.RedirectWarning':
    case 'werkzeug.exceptions.UnprocessableEntity':
      return 422;
    case 'odoo.exceptions.AccessError':
    case 'odoo.exceptions.AccessDenied':
      return 403;
    case 'werkzeug.exceptions.Unauthorized':
      return 401;
    case 'odoo.exceptions.MissingError':
    case 'werkzeug.exceptions.NotFound':
      return 404;
    case 'werkzeug.exceptions.BadRequest':
      return 400;
    default:
      return 500;
  }
}
