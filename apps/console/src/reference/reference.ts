import { createResolve, type ApiDocument, type Parameter, type Resolve, type Schema, type SecurityScheme } from './document.js';

export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

export interface Answer {
  status: string;
  description: string;
  headers: { name: string; description: string }[];
  schema: Schema | undefined;
}

export interface Operation {
  /** The `operationId`, which is the tRPC name. */
  id: string;
  method: string;
  path: string;
  service: string;
  summary: string;
  /** The description, without the sentence that says who may call it. */
  description: string;
  /** Who may call it: a condition for each entry, all of which must hold. Empty if the document does not say. */
  who: string[];
  deprecated: boolean;
  /** The ways to authenticate, by the names of security schemes. Empty where none is needed. */
  schemes: string[];
  /** Whether it also answers without credentials. */
  isOpen: boolean;
  parameters: Parameter[];
  /** `name` is what tRPC calls it, where it is no object. */
  body: { required: boolean; type: string; schema: Schema; name: string } | undefined;
  answers: Answer[];
}

export interface Service {
  name: string;
  description: string;
  operations: Operation[];
}

/** The document, as the page shows it. */
export interface Reference {
  title: string;
  version: string;
  description: string;
  /** The server's URL, without a trailing slash. */
  url: string;
  services: Service[];
  schemes: Record<string, SecurityScheme>;
  resolve: Resolve;
}

const WHO = /^Who may call it: (.*?)\.$/m;

/**
 * Reads an OpenAPI 3.1 document.
 * @param origin the server that it was loaded from
 */
export function readReference(document: ApiDocument, origin: string): Reference {
  const resolve = createResolve(document);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const documented = methods[method];
      return documented ? readOperation(document, documented, { method: method.toUpperCase(), path, resolve }) : [];
    }),
  );
  const texts = new Map(document.tags?.map(({ name, description = '' }) => [name, description]));
  // in the document's order, then those that it does not describe
  const names = new Set([...texts.keys(), ...operations.map(({ service }) => service)]);
  const services = [...names].map((name) => ({
    name,
    description: texts.get(name) ?? '',
    operations: operations.filter(({ service }) => service === name),
  }));
  const { title, version, description = '' } = document.info;
  return {
    title,
    version,
    description,
    url: new URL(document.servers?.[0]?.url ?? '/', origin).href.replace(/\/$/, ''),
    services: services.filter((service) => service.operations.length > 0),
    schemes: document.components?.securitySchemes ?? {},
    resolve,
  };
}

type Documented = NonNullable<ApiDocument['paths'][string][string]>;

function readOperation(
  document: ApiDocument,
  documented: Documented,
  { method, path, resolve }: { method: string; path: string; resolve: Resolve },
): Operation {
  const { operationId: id = `${method} ${path}`, summary = id, description = '', deprecated = false } = documented;
  const who = documented['x-who'] ?? WHO.exec(description)?.[1];
  const security = documented.security ?? document.security ?? [];
  const schemes = new Set(security.flatMap((one) => Object.keys(one)));
  const body = documented.requestBody && resolve(documented.requestBody);
  const [type, content] = Object.entries(body?.content ?? {})[0] ?? [];
  const name = documented['x-codegen-request-body-name'] ?? 'body';
  return {
    id,
    method,
    path,
    service: documented.tags?.[0] ?? 'other',
    summary,
    description: description.replace(WHO, '').trim(),
    who: who?.split('; ') ?? [],
    deprecated,
    schemes: [...schemes],
    isOpen: schemes.size === 0 || security.some((one) => Object.keys(one).length === 0),
    parameters: (documented.parameters ?? []).map(resolve),
    body: type === undefined ? undefined : { required: body?.required ?? false, type, schema: content?.schema ?? {}, name },
    answers: Object.entries(documented.responses ?? {}).map(([status, given]) => {
      const response = resolve(given);
      const headers = Object.entries(response.headers ?? {}).map(([name, header]) => [name, resolve(header)] as const);
      return {
        status,
        description: response.description ?? '',
        headers: headers.map(([name, header]) => ({ name, description: header.description ?? '' })),
        schema: Object.values(response.content ?? {})[0]?.schema,
      };
    }),
  };
}
