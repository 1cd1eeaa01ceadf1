// Staff and the virtual users of applications, which other records refer to. The specification does not show the
// record; the sandbox chose names, e-mail address, department, and whether the user is a veterinarian (who may
// prescribe). It is read-only and requires the permission for the clinic's settings.
import { z } from 'zod';
import { answer, id, url } from '../http/fields.ts';
import { idFilter, listRoute } from '../http/listing.ts';
import { type ApiRequest, pathId, type RouteSpec, route } from '../http/route.ts';
import { NotFound } from '../records.ts';
import type { User } from '../state/registers.ts';
import type { WireRecord } from '../wire.ts';

const section = 'Users';
const permission = 'Settings: Departments';

const record = answer({
  id: id(),
  url: url(),
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  department: url().nullable(),
  is_veterinarian: z.boolean(),
});

const wired = ({ wire }: ApiRequest, { created, modified, department, ...user }: User): WireRecord => ({
  ...user,
  url: wire.ref('user', user.id),
  department: wire.ref('department', department),
});

export const userRoutes: RouteSpec[] = [
  listRoute<User>({
    ...{ path: 'user/', action: 'user.list', summary: 'Users', section, permission, record },
    table: ({ clinic }) => clinic.registers.users,
    filters: idFilter,
    wire: wired,
  }),
  route({
    ...{ method: 'GET', path: 'user/:id/', action: 'user.retrieve', summary: 'One user', section, permission },
    answers: { 200: record },
    handle: (request) => {
      const user = request.clinic.registers.users.get(pathId(request));
      if (!user) throw new NotFound();
      return { status: 200, body: wired(request, user) };
    },
  }),
];
