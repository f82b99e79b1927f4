/** A JSON Schema, as far as the page shows it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  example?: unknown;
  examples?: unknown[];
  deprecated?: boolean;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

export interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  deprecated?: boolean;
  description?: string;
  example?: unknown;
  schema?: Schema;
}

interface Content {
  schema?: Schema;
}

interface Response {
  $ref?: string;
  description?: string;
  headers?: Record<string, { $ref?: string; description?: string; schema?: Schema }>;
  content?: Record<string, Content>;
}

export interface SecurityScheme {
  type: string;
  scheme?: string;
  in?: string;
  name?: string;
  description?: string;
}

interface DocumentedOperation {
  operationId?: string;
  summary?: string;
  description?: string;
  'x-who'?: string;
  'x-codegen-request-body-name'?: string;
  tags?: string[];
  deprecated?: boolean;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { $ref?: string; required?: boolean; content?: Record<string, Content> };
  responses?: Record<string, Response>;
}

/** The parts of an OpenAPI 3.1 document that the page reads; a host's may have operations of its own. */
export interface ApiDocument {
  info: { title: string; version: string; description?: string };
  servers?: { url: string }[];
  tags?: { name: string; description?: string }[];
  security?: Record<string, string[]>[];
  paths: Record<string, Record<string, DocumentedOperation | undefined>>;
  components?: { securitySchemes?: Record<string, SecurityScheme> };
}

/** Follows a reference within the document. What stands beside it replaces what it refers to. */
export type Resolve = <Part extends { $ref?: string }>(part: Part) => Part;

export function createResolve(document: ApiDocument): Resolve {
  return function resolve<Part extends { $ref?: string }>(part: Part): Part {
    const { $ref, ...own } = part;
    if ($ref === undefined) return part;
    let target: unknown = document;
    for (const key of $ref.split('/').slice(1))
      target = (target as Record<string, unknown> | undefined)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')];
    return { ...resolve((target ?? {}) as Part), ...own };
  };
}
