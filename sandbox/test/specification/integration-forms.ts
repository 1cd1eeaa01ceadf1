// The forms of sentences about the wholesaler integration, its events, authentication and versions.

import { answered, filterProblems, written } from './compare.ts';
import { errorRows } from './error-rows.ts';
import { emptyField } from './field.ts';
import { readNotes, typesOf } from './grammar.ts';
import { accepts, bodyOf, successes } from './schemas.ts';
import { type Form, here, listedFields, lists } from './sentence-forms.ts';
import { spansOf, splitOutside } from './text.ts';

/** Compares the status of a row of the errors. Its operations are compared in error-rows.ts. */
const statusOf = (situation: string, status: string | undefined): string[] =>
  errorRows[situation]?.[0] === Number(status) ? [] : [`${situation}: not ${status}`];

export const integrationForms: Form[] = [
  [
    /^`filename` must end in `([^`]+)` \(case-insensitive\), must not contain (.+); surrounding whitespace is trimmed first; the trimmed name must not be empty\.$/,
    (context, [, ending, refused]) => {
      const schema = written(context.operations, 'POST /wholesaler/{id}/catalog_upload_url/')?.properties?.filename;
      if (!schema) return ['the body has no filename'];
      const good = [`a${ending}`, `a${ending?.toUpperCase()}`, ` a${ending} `];
      const bad = ['a.txt', `a${ending}x`, ...spansOf(refused as string).map((part) => `a${part}b${ending}`)];
      return [
        ...good.filter((name) => !accepts(schema, name)).map((name) => `${name} is not taken`),
        ...bad.filter((name) => accepts(schema, name)).map((name) => `${name} is taken`),
      ];
    },
  ],
  [
    /^At most (\d+) lines per call\.$/,
    ({ operations }, [, lines]) => {
      const body = bodyOf(operations.get('POST /wholesaler/{id}/receipts/'));
      return body?.properties?.receipt_lines?.maxItems === Number(lines)
        ? []
        : ['a call takes another number of lines'];
    },
  ],
  [
    /^Status is (\d+) however many lines are rejected\.$/,
    ({ operations }, [, status]) => {
      const own = successes(operations.get('POST /wholesaler/{id}/receipts/') ?? { responses: {} });
      return String(own) === status ? [] : [`receipts answer ${own}`];
    },
  ],
  [
    /^Large result sets: when the offset would exceed ([\d,]+) records, filter by date range or `(\w+)=<last_seen_id>` instead of paging\.$/,
    (context, [, offset, filter]) => [
      ...(Number(offset?.replaceAll(',', '')) === context.limits.Offset?.[0]
        ? []
        : [`the offset is ${context.limits.Offset}`]),
      ...lists(context)
        .filter((key) => !key.includes('{id}'))
        .flatMap((key) => filterProblems(context.operations, key, [filter!])),
    ],
  ],
  [
    /^(?:Set reference number: the value is at most (\d+) characters; .* repeating the same value answers the same (\d+)|Order: fields of the order record: not shown beyond (`id`, `status`\/`order_status`) and the writable `wholesaler_reference_number` \(string, at most (\d+) characters, .*\))\.$/,
    (context, [, max, status, names, again]) => {
      const key = 'POST /order/{id}/set_wholesaler_reference_number/';
      const declared = successes(context.operations.get(key) ?? { responses: {} });
      if (status !== undefined && String(declared) !== status) return [`${key} answers ${declared}`];
      if (names !== undefined && !context.mentions(names)) return null;
      const field = emptyField('wholesaler_reference_number');
      readNotes(field, `at most ${max ?? again} characters`);
      Object.assign(field, typesOf('string'));
      return here(context, [field], { create: [key], read: [key] });
    },
  ],
  [
    /^Every wholesaler event carries (.+)\.$/,
    (context, [, names]) => {
      const fields = listedFields(names as string);
      const events = [...context.operations.keys()].filter((key) => key.startsWith('EVENT '));
      return fields && here(context, fields, { read: events, silent: 'read' });
    },
  ],
  [
    /^Same as above, but `(\w+)` holds only `(\w+)`; no credentials are sent\.$/,
    ({ operations }, [, object, name]) => {
      const [members] = answered(operations, `EVENT wholesaler.deleted ${object}`);
      return String(Object.keys(members?.properties ?? {})) === name ? [] : [`${object} holds more than ${name}`];
    },
  ],
  [
    /^Each error entry: (.+)\.$/,
    (context, [, names]) => {
      const fields = listedFields(names as string);
      return fields && here(context, fields, { read: ['EVENT catalog.processed upload errors'], silent: 'read' });
    },
  ],
  [
    /^Fields seen in events: (.+) \(`\{(.+)\}` or null: .*\)\.$/,
    (context, [, names, department]) => {
      const [fields, inner] = [listedFields(names as string), listedFields(department as string)];
      const read = ['EVENT wholesaler.created wholesaler', 'EVENT wholesaler.updated wholesaler'];
      return (
        fields &&
        inner && [
          ...here(context, fields, { read, silent: 'read' }),
          ...here(context, inner, { read: read.map((pointer) => `${pointer} department`), silent: 'read' }),
        ]
      );
    },
  ],
  [
    /^Up to (\d+) errors are delivered in full\.$/,
    ({ maxCatalogErrors }, [, max]) => (Number(max) === maxCatalogErrors ? [] : [`${maxCatalogErrors} are`]),
  ],
  [
    /^Other webhook triggers: .* the unallocated payment trigger is trigger type (\d+) and fires on create and modify\.$/,
    ({ prepaymentTrigger }, [, type]) =>
      Number(type) === prepaymentTrigger ? [] : [`the trigger is ${prepaymentTrigger}`],
  ],
  [
    /^The version is part of the path: `\/api\/([\d.]+)\/`; the machine-readable description declares version ([\d.]+)\.$/,
    ({ version }, [, path, declared]) =>
      path === version && declared === version ? [] : [`the version is ${version}`],
  ],
  [
    /^Shown permissions: (.+)\.$/,
    ({ operations, permissionOf }, [, text]) =>
      splitOutside(text as string, /; /).flatMap((one) => {
        const [, names = '', permission = ''] = /^(.+?) needs? '(.+)'$/.exec(one) ?? [];
        const path = names.replace(/s$/, '').replace('alternative payer', 'alternative_payer').replaceAll(' ', '');
        const keys = [...operations.keys()].filter((key) => key.includes(` /${path}/`));
        const wrong = keys.filter((key) => permissionOf(key) !== permission);
        return keys.length === 0 ? [`there are no ${names}`] : wrong.map((key) => `${key} needs another permission`);
      }),
  ],
  [
    /^Endpoints declare the `(\w+)` security scheme: requests carry `Authorization: Bearer <ACCESS_TOKEN>`\.$/,
    ({ operations }, [, scheme]) =>
      [...operations].flatMap(([key, { security }]) =>
        key.startsWith('EVENT') || security?.some((one) => one[scheme as string]) ? [] : [`${key} has no ${scheme}`],
      ),
  ],
  [
    /^Wholesaler endpoints need an OAuth 2\.0 access token with the `wholesaler` scope; .*`(\w+)` and `(\w+)`, which are the only order actions the scope opens\.$/,
    ({ operations, wholesalerOperations }, [, ...actions]) => {
      const own = [...operations.keys()].filter((key) =>
        /^\w+ \/(?:available_wholesaler|wholesaler|order)\//.test(key),
      );
      const orders = wholesalerOperations.filter((key) => key.includes('/order/')).toSorted();
      return [
        ...own.filter((key) => !wholesalerOperations.includes(key)).map((key) => `${key} has another scope`),
        ...(String(orders) === String(actions.map((one) => `POST /order/{id}/${one}/`).toSorted())
          ? []
          : [`the scope opens ${orders}`]),
      ];
    },
  ],
  [
    /^Creating an `available_wholesaler` with a legacy API key instead of an OAuth 2\.0 access token answers (\d{3})\.$/,
    (_context, [, status]) => statusOf('Available wholesaler create with a legacy API key', status),
  ],
  [
    /^Update or delete of an available wholesaler registered by another OAuth application answers (\d{3})\.$/,
    (_context, [, status]) =>
      statusOf('Available wholesaler update or delete, registered by another application', status),
  ],
  [
    /^Other record shapes \(`item`, `user`, `reason`, `listitem`, codelist entries beyond (.+)\): not shown\.$/,
    (context, [, names]) => {
      const fields = listedFields(names as string);
      const read = ['species', 'breeds', 'diagnoses'].map((list) => `GET /codelist/${list}/`);
      return fields && here(context, fields, { read, silent: 'read' });
    },
  ],
];
