export type Json = Record<string, unknown>;

export interface Reference {
  $ref: string;
  /** Replaces that of the component. */
  description?: string;
}

/** A parameter of an operation. Its description and example stand here, because most tools do not look into its schema. */
export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  deprecated?: boolean;
  description?: string;
  example?: unknown;
  schema: Json;
}

export interface Header {
  description: string;
  required?: boolean;
  schema: Json;
}

/** The parts of a described operation that tests and pages read. */
export interface DescribedOperation {
  operationId: string;
  summary?: string;
  description?: string;
  /** Who may call it, as a phrase. */
  'x-who'?: string;
  /** What generated clients call the body where it is an array, as tRPC does. */
  'x-codegen-request-body-name'?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Json }> };
  responses: Record<string, Response | Reference>;
}

export interface Response {
  description?: string;
  headers?: Record<string, Header | Reference>;
  content?: Record<string, { schema: Json }>;
}

export interface OpenApiDocument {
  openapi: string;
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, DescribedOperation>>;
  components: Json & {
    schemas: Record<string, Json>;
    responses: Record<string, Response>;
    parameters: Record<string, Parameter>;
    headers: Record<string, Header>;
  };
}
