// Object storage: a signed form uploads catalog files, as with S3, and reports of rejected rows are downloaded
// (practice-api: Catalog upload URL request; Errors: object-storage upload). It is not part of the API: no token, XML
// errors. Choices of the sandbox: a stored file answers 204; the codes of refusals that are not listed; a second
// file for a finished upload is accepted and changes nothing.
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clinic } from '../clinic.ts';
import { NotFound } from '../records.ts';
import type { CatalogUpload } from '../state/supply.ts';
import { admitForm, maxCatalogBytes, processCatalog, StorageError } from '../supply/uploads.ts';

type InstallationOf = (id: number) => { clinic: Clinic } | null;

/** The address of an installation's storage. */
export const storageUrl = (origin: string, installation: number): string => `${origin}/storage/${installation}/`;

/** The form adds little to the file's size. A much larger request is not read to its end. */
const maxRequestBytes = maxCatalogBytes + 10_000_000;

const hidden = { hide: true } as never;
const originOf = (request: FastifyRequest): string => `http://${request.headers.host ?? 'localhost'}`;

/** POST storage/<installation>/ takes a form; GET storage/<installation>/reports/<secret>.csv gives a report. */
export const registerStorage = async (app: FastifyInstance, installationOf: InstallationOf): Promise<void> => {
  await app.register(
    async (scope) => {
      scope.removeAllContentTypeParsers();
      await scope.register(multipart, {
        throwFileSizeLimit: false,
        limits: { fileSize: maxCatalogBytes, files: 1, fields: 40, fieldSize: 100_000, parts: 50 },
      });
      // Other content types are not forms, so their bodies are discarded.
      scope.addContentTypeParser('*', (_request, payload, done) => {
        payload.resume();
        done(null);
      });
      const clinicOf = (request: FastifyRequest): Clinic => {
        const found = installationOf(Number((request.params as { installation: string }).installation));
        if (!found) throw new NotFound();
        return found.clinic;
      };
      const reading = new Reading();
      scope.addHook('onClose', () => reading.done());
      scope.post(
        '/:installation/',
        { schema: hidden, config: { action: 'storage.upload' } },
        async (request, reply) => {
          try {
            const clinic = clinicOf(request);
            const { upload, file } = await takeFile(clinic, request);
            await reading.start(clinic, upload, file, `${originOf(request)}${request.url}`);
            return reply.code(204).send();
          } catch (error) {
            return refuse(reply, error);
          }
        },
      );
      const options = { schema: hidden, config: { action: 'storage.report' } };
      scope.get('/:installation/reports/:name', options, async (request, reply) => {
        const clinic = clinicOf(request);
        const { name } = request.params as { name: string };
        const report = clinic.supply.uploads.all().find((upload) => `${upload.report?.token}.csv` === name)?.report;
        if (!report) throw new NotFound();
        return reply.type('text/csv; charset=utf-8').serializer(String).send(report.csv);
      });
    },
    { prefix: '/storage' },
  );
};

interface Landed {
  upload: CatalogUpload;
  file: string;
}

/** Stores the file of a form in a temporary file. Throws StorageError. */
const takeFile = async (clinic: Clinic, request: FastifyRequest): Promise<Landed> => {
  const startedMs = clinic.clock();
  if (!request.isMultipart()) {
    throw new StorageError(412, 'PreconditionFailed', 'Bucket POST must be of the enclosure-type multipart/form-data');
  }
  limitBody(request);
  const form = new Map<string, string>();
  let landed: Landed | null = null;
  let refusal: unknown = new StorageError(400, 'InvalidArgument', 'POST requires exactly one file upload per request.');
  for await (const part of formParts(request)) {
    if (part.type === 'field') {
      form.set(part.fieldname, String(part.value));
      continue;
    }
    // The rest of a refused request is read and discarded, so that the client can read the answer.
    try {
      landed = await storeFile(admitForm(clinic, form, startedMs), part);
    } catch (error) {
      part.file.resume();
      refusal = error;
    }
  }
  if (landed === null) throw refusal;
  return landed;
};

/** Refuses a request with a too large content-length, and closes the connection if a body becomes too large. */
const limitBody = ({ raw }: FastifyRequest): void => {
  if (Number(raw.headers['content-length'] ?? 0) > maxRequestBytes) throw tooLarge();
  let bytes = 0;
  raw.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxRequestBytes) raw.destroy();
  });
};

const tooLarge = () => new StorageError(400, 'EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size');

/** The parts of a form. Throws StorageError if the form is malformed. */
async function* formParts(request: FastifyRequest) {
  try {
    yield* request.parts();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new StorageError(400, 'MalformedPOSTRequest', message);
  }
}

const storeFile = async (upload: CatalogUpload, part: MultipartFile): Promise<Landed> => {
  const file = join(tmpdir(), `catalog-${randomUUID()}.csv`);
  try {
    await pipeline(part.file as Readable, createWriteStream(file, { mode: 0o600 }));
    if (part.file.truncated) throw tooLarge();
    if (part.file.bytesRead === 0) {
      throw new StorageError(400, 'EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed size');
    }
    return { upload, file };
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
};

/** The files that are being validated, by upload. */
class Reading {
  readonly #running = new Map<CatalogUpload, Promise<void>>();

  /**
   * Validates a file and deletes it. If the upload is finished or already has a file, the new file is deleted unread.
   */
  async start(clinic: Clinic, upload: CatalogUpload, file: string, storage: string): Promise<void> {
    if (upload.status !== 'pending' || this.#running.has(upload)) {
      await rm(file, { force: true });
      return;
    }
    const reportUrl = (token: string): string => `${storage}reports/${token}.csv`;
    const run = processCatalog(clinic, upload, file, reportUrl).finally(() => {
      this.#running.delete(upload);
      return rm(file, { force: true });
    });
    // If the file cannot be read from disk, the upload stays pending, so that the client can send another file.
    this.#running.set(
      upload,
      run.catch(() => {}),
    );
  }

  async done(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}

/** Sends an error in the XML of object storage. */
const refuse = (reply: FastifyReply, error: unknown): FastifyReply => {
  if (!(error instanceof StorageError)) throw error;
  const { status, code, message } = error;
  const size = code.startsWith('Entity') ? `<MaxSizeAllowed>${maxCatalogBytes}</MaxSizeAllowed>` : '';
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${escaped(message)}</Message>${size}</Error>`;
  reply.header('connection', 'close');
  return reply.code(status).type('application/xml').serializer(String).send(xml);
};

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
