// Online booking with the practice API, against a running sandbox:
//
//     npx vetledger sandbox --port 8090
//     node sandbox/examples/online-booking.ts http://127.0.0.1:8090
//
// Somebody who is no client yet books a visit on the clinic's web site: the site makes the appointment, connects who comes with which animal,
// has the confirmation sent, and plans a reminder.
const baseUrl = process.argv[2] ?? 'http://127.0.0.1:8090';
const token = process.env.PRACTICE_TOKEN ?? 'sandbox-token';
const api = `${baseUrl}/${process.argv[3] ?? '4711'}/api/0.1`;

const say = (text: string): void => console.log(text);

const ask = (url: string, body?: object): Promise<Response> =>
  fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(30_000),
  });

/** Calls the API and expects success; the answer's JSON. */
const call = async <T>(url: string, body?: object): Promise<T> => {
  const answer = await ask(url, body);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
};

interface Page<T> {
  results: T[];
}
interface Record {
  id: number;
  url: string;
}

const reasons = await call<Page<Record & { name: string }>>(`${api}/reason/`);
const reason = reasons.results.find(({ name }) => name === 'Vaccination');
const [species] = (await call<Page<{ id: number; label: string }>>(`${api}/codelist/species/`)).results;
if (!species) throw new Error('The clinic has no species.');

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const appointment = await call<Record & { request_hash: string }>(`${api}/appointment/`, {
  start: `${inDays(3)}T09:00:00Z`,
  end: `${inDays(3)}T09:30:00Z`,
  department: `${api}/department/11/`,
  type: 'Online booking',
  title: 'Vaccination',
  ...(reason ? { reason: reason.url } : {}),
});
say(`appointment made, request_hash of ${appointment.request_hash.length} digits`);

const confirmation = `${api}/appointment/${appointment.id}/send_appointment_confirmation/`;
const { request_hash } = appointment;
say(`confirmation before anybody is connected: ${(await ask(confirmation, { request_hash })).status}`);

const client = await call<Record>(`${api}/onlinebookingclient/`, {
  appointment: appointment.url,
  first_name: 'Minea',
  last_name: 'Harjula',
  email: 'minea.harjula@example.org',
  phone_number: '+358405551234',
  street_address: 'Havukuja 3',
  zip_code: '01999',
  city: 'Kuusniemi',
});
await call<Record>(`${api}/onlinebookingpatient/`, {
  onlinebookingclient: client.url,
  name: 'Halla',
  species: species.id,
  notes: 'First visit',
});
say(`connected: Minea Harjula with Halla, species ${species.label}`);

say(`confirmation with another hash: ${(await ask(confirmation, { request_hash: 'guessed' })).status}`);
const confirmed = await call<{ email: string; sms: string }>(`${confirmation}?dont_send_sms_confirmation`, {
  request_hash,
});
say(`confirmation: e-mail ${confirmed.email}, SMS ${confirmed.sms}`);

const reminder = await call<{ delivery_status: number }>(`${api}/appointment_reminder/`, {
  appointment: appointment.url,
  remind_at: `${inDays(2)}T09:00:00Z`,
  delivery_method: 3,
});
say(`reminder by SMS planned, delivery_status ${reminder.delivery_status}`);

const { messages } = await call<{ messages: { channel: string; recipient: string; subject: string }[] }>(
  `${baseUrl}/sandbox/messages`,
);
for (const { channel, recipient, subject } of messages.slice(-1)) say(`sent by ${channel} to ${recipient}: ${subject}`);
