// Payment links with the practice API, against a running sandbox:
//
//     npx vetledger sandbox --port 8090
//     node sandbox/examples/payment-link.ts http://127.0.0.1:8090
//
// An integration makes a link for what is due on an invoice, and one for a prepayment. The payer opens the first and pays, twice by mistake; and
// does not want to pay the second. What staff and the payer's telephone see is read from the sandbox's control endpoints.
const baseUrl = process.argv[2] ?? 'http://127.0.0.1:8090';
const token = process.env.PRACTICE_TOKEN ?? 'sandbox-token';
const api = `${baseUrl}/${process.argv[3] ?? '4711'}/api/0.1`;

interface Page<T> {
  results: T[];
}
interface Invoice {
  id: number;
  url: string;
  department: string;
  client: string | null;
  due_sum: number;
  credit_note: boolean;
}
interface Transaction {
  id: number;
  amount: string;
  payment: string | null;
  payment_link: { url: string; payment_status: number; delivery_status: number; expiration_time: string };
}

const statuses = ['', 'Pending', 'Failed', 'Expired', 'Aborted', 'Accepted'];
const say = (text: string): void => console.log(text);

/** Calls the API and expects success; the answer's JSON. */
const call = async <T>(url: string, body?: object): Promise<T> => {
  const answer = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(30_000),
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
};

/** What the payer does on the page: a form, as a browser posts it. */
const onPage = async (link: Transaction, form: Record<string, string>): Promise<void> => {
  const page = await fetch(link.payment_link.url, { method: 'POST', body: new URLSearchParams(form) });
  const heading = /<h1>(.*?)<\/h1>/.exec(await page.text())?.[1];
  say(`  the page says: ${heading}`);
};

const statusOf = async ({ id }: Transaction): Promise<string> => {
  const { payment_link } = await call<Transaction>(`${api}/postransaction/${id}/`);
  return statuses[payment_link.payment_status] ?? '';
};

interface Department {
  id: number;
  name: string;
  allow_nhp_processing: boolean;
}

/** The first open invoice of a department that allows links. */
const invoiceToPay = async (): Promise<{ invoice: Invoice; department: Department }> => {
  const { results } = await call<Page<Invoice>>(`${api}/invoice/?status__is=3&page_size=1000`);
  const open = results.filter(({ due_sum, client, credit_note }) => due_sum > 0 && client !== null && !credit_note);
  for (const url of new Set(open.map((one) => one.department))) {
    const department = await call<Department>(url);
    say(`links allowed in ${department.name}: ${department.allow_nhp_processing}`);
    const invoice = open.find((one) => one.department === url);
    if (department.allow_nhp_processing && invoice) return { invoice, department };
  }
  throw new Error('The clinic has no open invoice in a department that allows payment links.');
};

const { invoice, department } = await invoiceToPay();
say(`invoice ${invoice.id}: ${invoice.due_sum} due`);

const common = {
  terminal_id: 0,
  payment_type: 5003,
  transaction_type: 4,
  department: invoice.department,
};
const link = await call<Transaction>(`${api}/postransaction/`, {
  ...common,
  amount: invoice.due_sum,
  invoice: invoice.url,
  payment_link_data: {
    duration: 60,
    invoice_id: invoice.id,
    email: 'payer@example.org',
    phone: '+358401234567',
    description: 'Your last visit',
  },
});
say(`payment link of ${link.amount}: ${await statusOf(link)}`);

await onPage(link, { action: 'pay', method: 'card' });
await onPage(link, { action: 'pay', method: 'card' });
say(`payment link: ${await statusOf(link)}`);
const payments = await call<Page<{ url: string; paid: string; info: string }>>(
  `${api}/invoicepayment/?invoice__is=${invoice.id}`,
);
const { payment } = await call<Transaction>(`${api}/postransaction/${link.id}/`);
const ours = payments.results.filter(({ url }) => url === payment);
say(`payments by the link: ${ours.map(({ paid }) => paid).join(', ')}`);

const deposit = await call<Transaction>(`${api}/postransaction/`, {
  ...common,
  amount: '50.00',
  payment_link_data: { duration: 60, delivery_method: 0, description: 'Deposit for the surgery' },
  prepayment_data: {
    client_id: Number(invoice.client?.split('/').at(-2)),
    department_id: department.id,
    description: 'Deposit',
  },
});
say(`prepayment link of ${deposit.amount}: ${await statusOf(deposit)}`);
await onPage(deposit, { action: 'abort' });
say(`prepayment link: ${await statusOf(deposit)}`);

const messages = await call<{ messages: { channel: string; recipient: string; payment_link: string | null }[] }>(
  `${baseUrl}/sandbox/messages`,
);
for (const { channel, recipient, payment_link } of messages.messages) {
  if (payment_link === link.payment_link.url) say(`sent by ${channel} to ${recipient}`);
}
