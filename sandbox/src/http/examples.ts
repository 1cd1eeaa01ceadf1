// The examples of the OpenAPI description: recorded requests to a clinic and its answers.

/** A request and its answer. */
export interface Example {
  /** The ids in the path, in order. */
  ids: readonly number[];
  /** The body of the request; absent if there is none. */
  body?: unknown;
  /** The answer to an invalid body. */
  refusal?: unknown;
  /** The operations whose examples must be sent first. */
  after: readonly string[];
  answer: unknown;
}

export interface Examples {
  /** Examples by operationId. */
  operations: ReadonlyMap<string, Example>;
  /** The body of an error answer, by status. */
  errors: ReadonlyMap<number, unknown>;
}

interface Content {
  content?: { 'application/json'?: { example?: unknown } };
}
interface Operation {
  operationId: string;
  description?: string;
  parameters?: { in: string; example?: unknown }[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

const show = (part: Content | undefined, example: unknown): void => {
  const json = part?.content?.['application/json'];
  if (json && example !== undefined) json.example = example;
};

/** The operations of a description, by path and method. */
export type Paths = Record<string, Record<string, Operation>>;

/** The same examples for another installation: its id replaces the recorded one in references. */
const forInstallation = (operations: Examples['operations'], installation: number): Examples['operations'] =>
  new Map(JSON.parse(JSON.stringify([...operations]).replaceAll('/4711/', `/${installation}/`)));

/** Adds the examples to the operations of a description. */
export const addExamples = (paths: Paths, { operations, errors }: Examples, installation: number): void => {
  const local = forInstallation(operations, installation);
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    for (const [status, response] of Object.entries(operation.responses)) show(response, errors.get(Number(status)));
    const example = local.get(operation.operationId);
    if (!example) continue;
    show(operation.requestBody, example.body);
    for (const status of [200, 201]) show(operation.responses[status], example.answer);
    show(operation.responses[400], example.refusal);
    const inPath = (operation.parameters ?? []).filter((one) => one.in === 'path');
    for (const [index, parameter] of inPath.entries()) parameter.example = example.ids[index];
    if (example.after.length === 0) continue;
    const after = `Its example comes after those of ${example.after.join(', ')}.`;
    operation.description = [operation.description, after].filter(Boolean).join(' ');
  }
};
