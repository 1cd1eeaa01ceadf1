import { beforeEach, describe, expect, test } from 'vitest';
import { inventClient } from '../../src/catalogue.ts';
import type { Client } from '../../src/records.ts';
import { Rng } from '../../src/rng.ts';
import { type Reply, refTo, useSandbox } from './harness.ts';

const start = Date.parse('2026-05-20T12:00:00.000Z');
let nowMs = start;
const api = useSandbox({ now: () => new Date(nowMs), quirks: { timestamps: 'zulu' } });
const clinic = () => api().sandbox.clinic;
let client: Client;

beforeEach(() => {
  nowMs = start;
  client = clinic().insert(clinic().clients, inventClient(new Rng(1, 'booker'), 1));
  clinic().update(clinic().clients, client, { no_sms: false, no_email: false, email: 'owner@example.org' });
  clinic().insert(clinic().people.phoneNumbers, { client: client.id, phone_number: '+358501112233', type_code: 1 });
});

const patientOf = (owner: number) => api().ref('patient', clinic().registers.patients.of(owner)[0]?.id ?? 0);
const body = (fields: object = {}) => ({
  start: '2026-05-21T09:00:00+03:00',
  end: '2026-05-21T09:30:00+03:00',
  department: api().ref('department', 11),
  type: 1,
  ...fields,
});
const post = (path: string, fields: object) => api().send('POST', path, fields);
const made = async (path: string, fields: object): Promise<Reply['json']> => {
  const created = await post(path, fields);
  expect([created.status, created.text]).toEqual([201, expect.any(String)]);
  return created.json;
};
const create = (fields: object = {}) => made('appointment/', body(fields));
const shown = async (path: string, id: number) => (await api().get(`${path}/${id}/`)).json;
const confirm = (appointment: Reply['json'], flags = '', request_hash = appointment.request_hash) =>
  post(`appointment/${appointment.id}/send_appointment_confirmation/${flags}`, { request_hash });
const bookingClient = (appointment: Reply['json'], fields: object = {}) => ({
  appointment: appointment.url,
  first_name: 'Minea',
  last_name: 'Harjula',
  email: 'minea@example.org',
  phone_number: '+358 40 555 1234',
  street_address: 'Havukuja 3',
  zip_code: '01999',
  city: 'Kuusniemi',
  ...fields,
});
const species = () => clinic().people.species.all()[0]?.id ?? 0;
const breed = () => clinic().people.breeds.all()[0]?.id ?? 0;
const bookingPatient = (booked: Reply['json'], fields: object = {}) => ({
  onlinebookingclient: booked.url,
  name: 'Halla',
  species: species(),
  breed: breed(),
  notes: 'Shy',
  ...fields,
});
const newMessages = (before: number) =>
  clinic()
    .online.messages.all()
    .slice(before)
    .map(({ channel, recipient }) => `${channel} ${recipient}`);

describe('practice-api "Appointment and online booking": appointments', () => {
  test('create answers the appointment with its request_hash, which later answers lack', async () => {
    const reason = (await api().get('reason/')).json.results[0];
    const user = (await api().get('user/')).json.results[0];
    const { request_hash, ...appointment } = await create({
      reason: reason.url,
      user: user.url,
      title: 'Check-up',
      complaint: 'Limps',
      client: refTo('client', client.id),
      notes: 'Brings the X-rays',
    });
    expect(request_hash).toMatch(/^[0-9a-f]{40}$/);
    expect(appointment).toEqual({
      id: expect.any(Number),
      url: api().ref('appointment', appointment.id),
      created: '2026-05-20T12:00:00.000000Z',
      modified: '2026-05-20T12:00:00.000000Z',
      start: '2026-05-21T06:00:00.000000Z',
      end: '2026-05-21T06:30:00.000000Z',
      department: api().ref('department', 11),
      reason: reason.url,
      user: user.url,
      title: 'Check-up',
      complaint: 'Limps',
      type: 1,
      client: api().ref('client', client.id),
      patients: [],
      notes: 'Brings the X-rays',
      online_booking_client: null,
      online_booking_patients: [],
      confirmation_sent: null,
    });
    expect(await shown('appointment', appointment.id)).toEqual(appointment);
    const ofClient = (await api().get('appointment/', { client__is: client.id })).json.results;
    expect(ofClient).toEqual([appointment]);
    const later = await api().get('appointment/', { client__is: client.id, start__gte: '2026-05-21T09:00:01+03:00' });
    expect(later.json.count).toBe(0);
  });

  const names = [
    'Consultation',
    'Online booking',
    'Other',
    'Internal booking',
    'Unknown client',
    'Farm visit',
    'Preliminary booking',
    'Boarding',
    'Pet service',
  ];
  test.each(names.map((name, at) => [at + 1, name] as const))('type %i may be written as "%s"', async (type, name) => {
    const types = [await create({ type }), await create({ type: String(type) }), await create({ type: name })];
    expect(types.map((one) => one.type)).toEqual([type, type, type]);
  });

  test('the client of an appointment with patients only is theirs', async () => {
    const patient = patientOf(2001);
    const appointment = await create({ patients: [patient] });
    expect([appointment.client, appointment.patients]).toEqual([api().ref('client', 2001), [patient]]);
  });

  test.each<[string, () => object, string]>([
    ['no start', () => ({ start: undefined }), 'start'],
    ['a start that is no time', () => ({ start: 'tomorrow' }), 'start'],
    ['no end', () => ({ end: undefined }), 'end'],
    ['an end that is not after the start', () => ({ end: '2026-05-21T09:00:00+03:00' }), 'end'],
    ['no department', () => ({ department: undefined }), 'department'],
    ['an unknown department', () => ({ department: refTo('department', 99) }), 'department'],
    ['no type', () => ({ type: undefined }), 'type'],
    ['an unknown type', () => ({ type: 10 }), 'type'],
    ['an unknown name of a type', () => ({ type: 'Walk' }), 'type'],
    ['an unknown reason', () => ({ reason: refTo('reason', 999) }), 'reason'],
    ['an unknown user', () => ({ user: refTo('user', 999_999) }), 'user'],
    ['an unknown client', () => ({ client: refTo('client', 1) }), 'client'],
    ['an unknown patient', () => ({ patients: [refTo('patient', 1)] }), 'patients'],
    [
      "another client's patient",
      () => ({ client: refTo('client', client.id), patients: [patientOf(2001)] }),
      'patients',
    ],
    ['patients of two clients', () => ({ patients: [patientOf(2001), patientOf(2002)] }), 'patients'],
  ])('%s is refused', async (_case, fields, field) => {
    const refused = await post('appointment/', body(fields()));
    expect([refused.status, refused.json]).toEqual([400, { [field]: [expect.any(String)] }]);
  });

  test('reasons and users are read only; what does not exist is 404', async () => {
    const reason = (await api().get('reason/')).json.results[0];
    expect(await shown('reason', reason.id)).toEqual(reason);
    const user = (await api().get('user/')).json.results[0];
    expect(await shown('user', user.id)).toEqual(user);
    const paths = ['reason/99/', 'user/999/', 'appointment/1/', 'onlinebookingclient/1/', 'onlinebookingpatient/1/'];
    for (const path of [...paths, 'appointment_reminder/1/']) expect((await api().get(path)).status).toBe(404);
    expect((await post('reason/', { name: 'x' })).status).toBe(405);
    expect((await post('appointment/1/send_appointment_confirmation/', { request_hash: 'x' })).status).toBe(404);
  });
});

describe('practice-api "onlinebookingclient" and "onlinebookingpatient"', () => {
  test('they are connected to the appointment, and can be read', async () => {
    const appointment = await create({ type: 'Online booking' });
    const booked = await made('onlinebookingclient/', bookingClient(appointment));
    expect(booked).toMatchObject({ ...bookingClient(appointment), phone_number: '+358405551234' });
    const animal = await made('onlinebookingpatient/', bookingPatient(booked));
    expect(animal).toMatchObject(bookingPatient(booked));
    expect(await shown('onlinebookingclient', booked.id)).toEqual(booked);
    expect(await shown('onlinebookingpatient', animal.id)).toEqual(animal);
    expect(await shown('appointment', appointment.id)).toMatchObject({
      online_booking_client: booked.url,
      online_booking_patients: [animal.url],
    });
  });

  test('a client of an appointment of another type, a second client, an unknown appointment are refused', async () => {
    const refused = async (fields: object) => (await post('onlinebookingclient/', fields)).json;
    expect(await refused(bookingClient(await create()))).toEqual({ appointment: [expect.any(String)] });
    const online = await create({ type: 2 });
    await made('onlinebookingclient/', bookingClient(online));
    expect(await refused(bookingClient(online))).toEqual({ appointment: ['It has a client already.'] });
    expect(await refused(bookingClient({ url: refTo('appointment', 1) }))).toEqual({
      appointment: ['Invalid hyperlink - Object does not exist.'],
    });
  });

  test.each(['appointment', 'first_name', 'last_name'])('a client without %s is refused', async (field) => {
    const refused = await post(
      'onlinebookingclient/',
      bookingClient(await create({ type: 2 }), { [field]: undefined }),
    );
    expect([refused.status, refused.json]).toEqual([400, { [field]: ['This field is required.'] }]);
  });

  test.each<[string, object, string]>([
    ['without onlinebookingclient', { onlinebookingclient: undefined }, 'onlinebookingclient'],
    [
      'of an unknown onlinebookingclient',
      { onlinebookingclient: refTo('onlinebookingclient', 1) },
      'onlinebookingclient',
    ],
    ['without name', { name: undefined }, 'name'],
    ['without species', { species: undefined }, 'species'],
    ['of a species that is in no code list', { species: 999_999 }, 'species'],
    ['of a breed that is in no code list', { breed: 999_999 }, 'breed'],
  ])('an animal %s is refused', async (_case, fields, field) => {
    const booked = await made('onlinebookingclient/', bookingClient(await create({ type: 2 })));
    const refused = await post('onlinebookingpatient/', bookingPatient(booked, fields));
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, [field]]);
  });
});

describe('practice-api "send_appointment_confirmation"', () => {
  const both = ['email owner@example.org', 'sms +358501112233'];
  const [email, sms] = both as [string, string];
  const withoutEmail = '?dont_send_email_confirmation';
  const withoutSms = '?dont_send_sms_confirmation';
  test.each<[string, string, object, string[]]>([
    ['by both channels', '', {}, both],
    ['without e-mail', withoutEmail, {}, [sms]],
    ['without SMS', withoutSms, {}, [email]],
    ['a flag with a value is given too', `${withoutSms}=false`, {}, [email]],
    ['by neither', `${withoutEmail}&dont_send_sms_confirmation=1`, {}, []],
    ['no_email of the client', '', { no_email: true }, [sms]],
    ['no_sms of the client', '', { no_sms: true }, [email]],
    ['no_sms of the client and the flag for e-mail', withoutEmail, { no_sms: true }, []],
  ])('%s', async (_case, flags, wishes, sent) => {
    clinic().update(clinic().clients, client, wishes);
    const appointment = await create({ client: refTo('client', client.id) });
    const before = clinic().online.messages.size;
    nowMs += 1000;
    const answer = await confirm(appointment, flags);
    const by = (channel: string) => (sent.includes(channel) ? 'sent' : 'not sent');
    expect([answer.status, answer.json]).toEqual([200, { status: 'ok', email: by(email), sms: by(sms) }]);
    expect(newMessages(before)).toEqual(sent);
    const { confirmation_sent } = await shown('appointment', appointment.id);
    expect(confirmation_sent).toBe(sent.length > 0 ? '2026-05-20T12:00:01.000000Z' : null);
  });

  test('an address that does not exist fails on its channel', async () => {
    clinic().update(clinic().clients, client, { email: 'owner@nowhere.invalid' });
    expect((await confirm(await create({ client: refTo('client', client.id) }))).json).toMatchObject({
      email: 'failed',
      sms: 'sent',
    });
  });

  test.each(['0'.repeat(40), 'x'])('request_hash must match: %s is refused', async (hash) => {
    const appointment = await create({ client: refTo('client', client.id) });
    const before = clinic().online.messages.size;
    const refused = await confirm(appointment, '', hash);
    expect([refused.status, refused.json]).toEqual([400, { request_hash: [expect.any(String)] }]);
    const other = await create({ client: refTo('client', client.id) });
    expect((await confirm(appointment, '', other.request_hash)).status).toBe(400);
    const none = await post(`appointment/${appointment.id}/send_appointment_confirmation/`, {});
    expect(none.json).toEqual({ request_hash: ['This field is required.'] });
    expect(clinic().online.messages.size).toBe(before);
  });

  test('an online booking needs its client and patient first; then they get the confirmation', async () => {
    const appointment = await create({ type: 2 });
    expect((await confirm(appointment)).status).toBe(400);
    const booked = await made('onlinebookingclient/', bookingClient(appointment));
    const refused = await confirm(appointment);
    expect([refused.status, refused.json]).toEqual([400, { non_field_errors: [expect.any(String)] }]);
    await made('onlinebookingpatient/', bookingPatient(booked));
    const before = clinic().online.messages.size;
    expect((await confirm(appointment)).json).toEqual({ status: 'ok', email: 'sent', sms: 'sent' });
    expect(newMessages(before)).toEqual(['email minea@example.org', 'sms +358405551234']);
  });

  test('the wishes of a registered client count for its online booking, too', async () => {
    clinic().update(clinic().clients, client, { no_email: true });
    const appointment = await create({ type: 2, client: refTo('client', client.id) });
    const booked = await made('onlinebookingclient/', bookingClient(appointment));
    await made('onlinebookingpatient/', bookingPatient(booked));
    expect((await confirm(appointment)).json).toEqual({ status: 'ok', email: 'not sent', sms: 'sent' });
  });

  test('an appointment without client cannot be confirmed', async () => {
    expect((await confirm(await create({ type: 5 }))).json).toEqual({ client: [expect.any(String)] });
  });
});

describe('practice-api "/appointment_reminder/" (payload not shown)', () => {
  const reminder = (appointment: Reply['json'], fields: object = {}) => ({
    appointment: appointment.url,
    remind_at: '2026-05-20T18:00:00Z',
    ...fields,
  });

  test.each([
    [1, ['email owner@example.org', 'sms +358501112233']],
    [2, ['email owner@example.org']],
    [3, ['sms +358501112233']],
  ])('delivery_method %i: it is sent once, when its time has come', async (delivery_method, sent) => {
    const appointment = await create({ client: refTo('client', client.id) });
    const planned = await made('appointment_reminder/', reminder(appointment, { delivery_method }));
    expect(planned).toMatchObject({ delivery_method, delivery_status: 1, sent: null });
    const before = clinic().online.messages.size;
    const messages = async () => {
      await fetch(`${api().sandbox.url}/sandbox/messages`);
      return newMessages(before);
    };
    nowMs = Date.parse('2026-05-20T17:59:59.999Z');
    expect(await messages()).toEqual([]);
    nowMs = Date.parse('2026-05-20T18:00:00.000Z');
    expect(await shown('appointment_reminder', planned.id)).toMatchObject({
      delivery_status: 2,
      sent: '2026-05-20T18:00:00.000000Z',
    });
    nowMs += 60_000;
    expect(await messages()).toEqual(sent);
  });

  test('a reminder without recipient: the delivery fails', async () => {
    const planned = await made('appointment_reminder/', reminder(await create({ type: 3 })));
    expect(planned.delivery_method).toBe(1);
    nowMs = Date.parse('2026-05-20T19:00:00.000Z');
    expect((await shown('appointment_reminder', planned.id)).delivery_status).toBe(3);
  });

  test.each<[string, object, string]>([
    ['no appointment', { appointment: undefined }, 'appointment'],
    ['an unknown appointment', { appointment: refTo('appointment', 1) }, 'appointment'],
    ['no time', { remind_at: undefined }, 'remind_at'],
    ['a time that is past', { remind_at: '2026-05-20T11:59:59Z' }, 'remind_at'],
    ['a time that is not before the appointment', { remind_at: '2026-05-21T09:00:00+03:00' }, 'remind_at'],
    ['an unknown way', { delivery_method: 0 }, 'delivery_method'],
  ])('%s is refused', async (_case, fields, field) => {
    const refused = await post('appointment_reminder/', reminder(await create(), fields));
    expect([refused.status, Object.keys(refused.json)]).toEqual([400, [field]]);
  });
});
