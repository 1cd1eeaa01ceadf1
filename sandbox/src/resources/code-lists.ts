// practice-api: Endpoints: Patients (code lists). The codes are the ids, which differ by installation.
// Choices of the sandbox: an entry has id, display_code and label only; the lists have pages.
import { z } from 'zod';
import { answer, id } from '../http/fields.ts';
import { idFilter, listRoute } from '../http/listing.ts';
import type { ApiRequest, RouteSpec } from '../http/route.ts';
import type { CodeListEntry } from '../state/people.ts';
import type { Table } from '../table.ts';
import { codeRecord } from '../wire/people.ts';

const record = answer({ id: id(), display_code: z.string(), label: z.string() });

const codeList = (name: string, table: (request: ApiRequest) => Table<CodeListEntry>): RouteSpec =>
  listRoute<CodeListEntry>({
    ...{ path: `codelist/${name}/`, action: `codelist_${name}.list`, section: 'Patients' },
    ...{ permission: 'General: Patients and clients', summary: `The code list of ${name}`, record },
    ...{ table, filters: idFilter, wire: (_request, entry) => codeRecord(entry) },
  });

export const codeListRoutes: RouteSpec[] = [
  codeList('species', ({ clinic }) => clinic.people.species as unknown as Table<CodeListEntry>),
  codeList('breeds', ({ clinic }) => clinic.people.breeds),
  codeList('diagnoses', ({ clinic }) => clinic.people.diagnoses),
];
