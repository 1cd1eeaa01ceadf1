// Catalog uploads: the pending upload, the signed form for one file, and the processing of the file (practice-api:
// Catalog upload; Catalog upload URL request). Choices of the sandbox: the names of the form fields, in the style
// of S3's presigned POST. A second request returns the pending upload with the file name and content type of the first
// request, and a new limit of five minutes.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Clinic } from '../clinic.ts';
import type { CatalogUpload, Wholesaler } from '../state/supply.ts';
import { readCatalog } from './catalog-csv.ts';
import { wholesalerOf } from './credentials.ts';
import { emitCatalog } from './events.ts';

export const maxCatalogBytes = 104_857_600;
export const accessKeyId = 'SANDBOXCATALOGUPLOAD';
export const uploadValidMs = 300_000;

/** The pending upload of a credential set; a new one if there is none. */
export const pendingUpload = (
  clinic: Clinic,
  wholesaler: Wholesaler,
  file: { filename: string; content_type: string },
): CatalogUpload => {
  const { uploads, uuid } = clinic.supply;
  return (
    uploads.of(wholesaler.id).find((upload) => upload.status === 'pending') ??
    clinic.insert(uploads, {
      ...{ wholesaler: wholesaler.id, catalog_id: uuid(), ...file },
      ...{ status: 'pending', report: null },
    })
  );
};

export const objectKey = (upload: CatalogUpload): string =>
  `catalogs/${upload.wholesaler}/${upload.catalog_id}/${upload.filename}`;

const signatureOf = (clinic: Clinic, policy: string): string =>
  createHmac('sha256', clinic.supply.storageKey).update(policy).digest('base64');

/** The fields that the form must have before its file. */
export const formFields = (clinic: Clinic, upload: CatalogUpload): Record<string, string> => {
  const key = objectKey(upload);
  const policy = Buffer.from(
    JSON.stringify({
      expiration: new Date(clinic.clock() + uploadValidMs).toISOString(),
      conditions: [
        ['eq', '$key', key],
        ['eq', '$Content-Type', upload.content_type],
        ['content-length-range', 1, maxCatalogBytes],
      ],
    }),
  ).toString('base64');
  return {
    key,
    'Content-Type': upload.content_type,
    AWSAccessKeyId: accessKeyId,
    policy,
    signature: signatureOf(clinic, policy),
  };
};

/** A refusal of object storage. */
export class StorageError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Finds the upload of a form. `startedMs` is when its transfer began. Throws StorageError. */
export const admitForm = (clinic: Clinic, form: ReadonlyMap<string, string>, startedMs: number): CatalogUpload => {
  const denied = (message: string) => new StorageError(403, 'AccessDenied', message);
  const field = (name: string): string => {
    const value = form.get(name);
    if (value === undefined) throw denied(`The form must have the field ${name} before its file.`);
    return value;
  };
  const policy = field('policy');
  if (field('AWSAccessKeyId') !== accessKeyId) {
    throw new StorageError(403, 'InvalidAccessKeyId', 'The access key id does not exist in our records.');
  }
  const expected = Buffer.from(signatureOf(clinic, policy));
  const given = Buffer.from(field('signature'));
  if (expected.length !== given.length || !timingSafeEqual(expected, given)) {
    throw new StorageError(403, 'SignatureDoesNotMatch', 'The signature does not match the policy.');
  }
  const { expiration, conditions } = JSON.parse(Buffer.from(policy, 'base64').toString()) as {
    expiration: string;
    conditions: [string, string, string][];
  };
  if (startedMs >= Date.parse(expiration)) throw denied('Policy expired');
  for (const [operator, name, value] of conditions) {
    if (operator !== 'eq' || field(name.slice(1)) === value) continue;
    throw denied(`Invalid according to Policy: Policy Condition failed: ["eq", "${name}", "${value}"]`);
  }
  const catalogId = field('key').split('/')[2];
  const upload = clinic.supply.uploads.all().findLast((one) => one.catalog_id === catalogId);
  if (!upload) throw denied('There is no such upload.');
  return upload;
};

/**
 * Validates an uploaded file, replaces the catalog and records the event, in one transaction. `reportUrl` makes a
 * report's link from its secret part.
 */
export const processCatalog = async (
  clinic: Clinic,
  upload: CatalogUpload,
  file: string,
  reportUrl: (token: string) => string,
): Promise<void> => {
  const outcome = await readCatalog(createReadStream(file));
  clinic.commit(() => {
    const { catalogs, uploads, uuid } = clinic.supply;
    // The clinic may have been reset during validation.
    if (uploads.get(upload.id) !== upload) return;
    const { status, products, errors } = outcome;
    const report = errors.isTooMany ? { token: uuid(), csv: errors.report() } : null;
    clinic.update(uploads, upload, { status, report });
    if (status !== 'rejected') {
      const live = catalogs.of(upload.wholesaler)[0];
      if (live) clinic.update(catalogs, live, { upload: upload.id, products });
      else clinic.insert(catalogs, { wholesaler: upload.wholesaler, upload: upload.id, products });
    }
    const wholesaler = wholesalerOf(clinic, upload.wholesaler);
    emitCatalog(clinic, wholesaler, upload, outcome, report === null ? '' : reportUrl(report.token));
  }, 'request');
};
