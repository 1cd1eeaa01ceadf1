// Odoo's errors: the class name that a client sees, and the text.

export class OdooError extends Error {
  /** The class with its module, as in `error.data.name`. */
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
/** Two transactions conflicted in all of Odoo's five attempts. */
export const serializationFailure = () =>
  new OdooError('psycopg2.errors.SerializationFailure', 'could not serialize access due to concurrent update\n');

/** The HTTP status of an error at `/json/2`. */
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
