// Payment links with the practice API, against a running sandbox:
//
//     npx vetledger sandbox --port 8090
//     npm run client --workspace sandbox      # writes client.ts from the OpenAPI description
//     node sandbox/examples/payment-link.ts http://127.0.0.1:8090
//
// An integration makes a link for the due sum of an invoice, and one for a prepayment. The payer opens the first link and pays
// twice by mistake, and refuses to pay the second link. The example reads the payer's messages from the sandbox's control endpoints.
import { Api, type Department, type Invoice, type Postransaction } from './client.ts';

const baseUrl = process.argv[2] ?? 'http://127.0.0.1:8090';
const practice = new Api({
  baseUrl: `${baseUrl}/4711/api/0.1`,
  baseApiParams: { headers: { authorization: 'Bearer sandbox-token' } },
  customFetch: (url, init) => fetch(url, { ...init, signal: AbortSignal.timeout(30_000) }),
});

const statuses = ['', 'Pending', 'Failed', 'Expired', 'Aborted', 'Accepted'];
const say = (text: string): void => console.log(text);
/** The id in a reference such as `…/client/2001/`. */
const idOf = (reference: string): number => Number(reference.split('/').at(-2));

/** Posts the form of the page, as the payer's browser would. */
const onPage = async (link: Postransaction, form: Record<string, string>): Promise<void> => {
  const page = await fetch(link.payment_link.url, { method: 'POST', body: new URLSearchParams(form) });
  const heading = /<h1>(.*?)<\/h1>/.exec(await page.text())?.[1];
  say(`  the page says: ${heading}`);
};

const statusOf = async ({ id }: Postransaction): Promise<string> => {
  const { payment_link } = await practice.postransaction.postransactionRetrieve(id);
  return statuses[payment_link.payment_status] ?? '';
};

/** The first open invoice of a department that allows links. */
const invoiceToPay = async (): Promise<{ invoice: Invoice & { client: string }; department: Department }> => {
  const { results } = await practice.invoice.invoiceList({
    status__is: '3',
    credit_note__is: 'false',
    page_size: 1000,
  });
  const open = results.filter(
    (one): one is Invoice & { client: string } => Number(one.due_sum) > 0 && one.client !== null,
  );
  for (const url of new Set(open.map((one) => one.department))) {
    const department = await practice.department.departmentRetrieve(idOf(url));
    say(`links allowed in ${department.name}: ${department.allow_nhp_processing}`);
    const invoice = open.find((one) => one.department === url);
    if (department.allow_nhp_processing && invoice) return { invoice, department };
  }
  throw new Error('The clinic has no open invoice in a department that allows payment links.');
};

const { invoice, department } = await invoiceToPay();
say(`invoice ${invoice.id}: ${invoice.due_sum} due`);

const common = { terminal_id: 0, payment_type: 5003, transaction_type: 4, department: invoice.department } as const;
const link = await practice.postransaction.postransactionCreate({
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
const payments = await practice.invoicepayment.invoicepaymentList({ invoice__is: String(invoice.id) });
const { payment } = await practice.postransaction.postransactionRetrieve(link.id);
const ours = payments.results.filter(({ url }) => url === payment);
say(`payments by the link: ${ours.map(({ paid }) => paid).join(', ')}`);

const deposit = await practice.postransaction.postransactionCreate({
  ...common,
  amount: '50.00',
  payment_link_data: { duration: 60, delivery_method: 0, description: 'Deposit for the surgery' },
  prepayment_data: { client_id: idOf(invoice.client), department_id: department.id, description: 'Deposit' },
});
say(`prepayment link of ${deposit.amount}: ${await statusOf(deposit)}`);
await onPage(deposit, { action: 'abort' });
say(`prepayment link: ${await statusOf(deposit)}`);

interface Message {
  channel: string;
  recipient: string;
  payment_link: string | null;
}
const { messages } = (await (await fetch(`${baseUrl}/sandbox/messages`)).json()) as { messages: Message[] };
for (const { channel, recipient, payment_link } of messages) {
  if (payment_link === link.payment_link.url) say(`sent by ${channel} to ${recipient}`);
}
