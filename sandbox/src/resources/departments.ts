// practice-api: Department settings (`allow_nhp_processing`, "on the department object"), Endpoints: Settings (online
// prescription settings of a department).
// Choices of the sandbox: the department is read at /department/{id}/, with its name and prefix; only staff change it,
// in the application. The online prescription settings hold the id and the url-reference of the fee's item, or null
// without a fee.
import { z } from 'zod';
import { answer, id, url } from '../http/fields.ts';
import { type ApiRequest, pathId, type RouteSpec, route } from '../http/route.ts';
import type { WireRecord } from '../wire.ts';

const section = 'Settings';

const record = answer({
  id: id(),
  url: url(),
  name: z.string(),
  invoice_prefix: z.string(),
  allow_nhp_processing: z.boolean(),
});

const prescriptionSettings = answer({
  department: url(),
  prescription_fee_item_id: id().nullable(),
  prescription_fee_item: url().nullable(),
});

const shown = ({ clinic, wire }: ApiRequest, departmentId: number): WireRecord => {
  const { id, name, prefix, allow_nhp_processing } = clinic.department(departmentId);
  return { id, url: wire.ref('department', id), name, invoice_prefix: prefix, allow_nhp_processing };
};

export const departmentRoutes: RouteSpec[] = [
  route({
    ...{ method: 'GET', path: 'department/:id/', action: 'department.retrieve', section },
    permission: 'Settings: Departments',
    summary: 'A department; whether it allows payment links',
    answers: { 200: record },
    handle: (request) => ({ status: 200, body: shown(request, pathId(request)) }),
  }),
  route({
    ...{ method: 'GET', path: 'department/:id/settings/', action: 'department.settings', section },
    summary: "A department's settings of online prescriptions",
    permission: 'General: E-prescriptions',
    answers: { 200: prescriptionSettings },
    handle: (request) => {
      const { id, prescription_fee_item } = request.clinic.department(pathId(request));
      return {
        status: 200,
        body: {
          department: request.wire.ref('department', id),
          prescription_fee_item_id: prescription_fee_item,
          prescription_fee_item: request.wire.ref('item', prescription_fee_item),
        },
      };
    },
  }),
];
