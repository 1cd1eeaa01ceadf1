// Online booking with the practice API, against a running sandbox:
//
//     npx vetledger sandbox --port 8090
//     npm run client --workspace sandbox      # writes client.ts from the OpenAPI description
//     node sandbox/examples/online-booking.ts http://127.0.0.1:8090
//
// A person who is not a client yet books a visit on the clinic's web site. The site makes the appointment, connects the person
// and the animal to it, requests a confirmation, and plans a reminder.
import { Api, type HttpResponse } from './client.ts';

const baseUrl = process.argv[2] ?? 'http://127.0.0.1:8090';
const api = `${baseUrl}/4711/api/0.1`;
const practice = new Api({
  baseUrl: api,
  baseApiParams: { headers: { authorization: 'Bearer sandbox-token' } },
  customFetch: (url, init) => fetch(url, { ...init, signal: AbortSignal.timeout(30_000) }),
});

const say = (text: string): void => console.log(text);
/** The status of the answer to a refused call. */
const refused = (call: Promise<unknown>): Promise<number> =>
  call.then(
    () => {
      throw new Error('The call was not refused.');
    },
    (answer: HttpResponse<unknown>) => answer.status,
  );

const reasons = await practice.reason.reasonList();
const reason = reasons.results.find(({ name }) => name === 'Vaccination');
const [species] = (await practice.codelist.codelistSpeciesList()).results;
if (!species) throw new Error('The clinic has no species.');

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const appointment = await practice.appointment.appointmentCreate({
  start: `${inDays(3)}T09:00:00Z`,
  end: `${inDays(3)}T09:30:00Z`,
  department: `${api}/department/11/`,
  type: 'Online booking',
  title: 'Vaccination',
  reason: reason?.url ?? null,
});
const { request_hash } = appointment;
say(`appointment made, request_hash of ${request_hash.length} digits`);

const confirm = (hash: string) =>
  practice.appointment.appointmentSendAppointmentConfirmation(
    appointment.id,
    { request_hash: hash },
    { dont_send_sms_confirmation: '' },
  );
say(`confirmation before anybody is connected: ${await refused(confirm(request_hash))}`);

const client = await practice.onlinebookingclient.onlinebookingclientCreate({
  appointment: appointment.url,
  first_name: 'Minea',
  last_name: 'Harjula',
  email: 'minea.harjula@example.org',
  phone_number: '+358405551234',
  street_address: 'Havukuja 3',
  zip_code: '01999',
  city: 'Kuusniemi',
});
await practice.onlinebookingpatient.onlinebookingpatientCreate({
  onlinebookingclient: client.url,
  name: 'Halla',
  species: species.id,
  notes: 'First visit',
});
say(`connected: Minea Harjula with Halla, species ${species.label}`);

say(`confirmation with another hash: ${await refused(confirm('guessed'))}`);
const confirmed = await confirm(request_hash);
say(`confirmation: e-mail ${confirmed.email}, SMS ${confirmed.sms}`);

const reminder = await practice.appointmentReminder.appointmentReminderCreate({
  appointment: appointment.url,
  remind_at: `${inDays(2)}T09:00:00Z`,
  delivery_method: 3,
});
say(`reminder by SMS planned, delivery_status ${reminder.delivery_status}`);

interface Message {
  channel: string;
  recipient: string;
  subject: string;
}
const { messages } = (await (await fetch(`${baseUrl}/sandbox/messages`)).json()) as { messages: Message[] };
for (const { channel, recipient, subject } of messages.slice(-1)) say(`sent by ${channel} to ${recipient}: ${subject}`);
