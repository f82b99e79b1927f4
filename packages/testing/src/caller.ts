import { FINGERPRINT_HEADER } from '@tandem/core';
import { ERROR_CODE, type Contract, type RestAnswer } from './contract.js';
import { sendRequest } from './raw-request.js';

/** A request's headers beyond its content. */
export interface Credentials {
  accessToken?: string | undefined;
  fingerprint?: string | undefined;
  headers?: Record<string, string>;
}

/** The two faces of a procedure. */
export type Face = 'rest' | 'trpc';
export const FACES: readonly Face[] = ['rest', 'trpc'];

/** A procedure's result, in the same form for both faces (decisions T5). */
export type Outcome = { ok: true; value: unknown } | { ok: false; status: number; message: string; data?: string[] };

/** A pending REST request: await it, or state the expected result. */
export interface RestRequest extends PromiseLike<RestAnswer> {
  /** @throws Error when status or message differ; returns the body */
  expect<Body = unknown>(status: number, message?: string): Promise<Body>;
}

export function headersOf({ accessToken, fingerprint, headers }: Credentials): Record<string, string> {
  return {
    ...(accessToken !== undefined && { authorization: `Bearer ${accessToken}` }),
    ...(fingerprint !== undefined && { [FINGERPRINT_HEADER]: fingerprint }),
    ...headers,
  };
}

/** Calls a server on both faces. Each REST answer is checked against the OpenAPI document. */
export function createCaller(url: string, contract: Contract) {
  async function request(method: string, path: string, body: unknown, credentials: Credentials): Promise<RestAnswer> {
    const headers = headersOf(credentials);
    const isText = typeof body === 'string';
    const { status, text, ...sent } = await sendRequest(url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
    });
    const isJson = sent.headers.get('content-type')?.startsWith('application/json') ?? false;
    const answer = {
      status,
      headers: sent.headers,
      body: text === '' ? undefined : isJson ? (JSON.parse(text) as unknown) : text,
    };
    contract.check(method, path, answer);
    return answer;
  }

  /** One REST request. A string body is sent unchanged. */
  function rest(method: string, path: string, body?: unknown, credentials: Credentials = {}): RestRequest {
    const sent = request(method, path, body, credentials);
    return {
      // oxlint-disable-next-line unicorn/no-thenable -- made to be awaited
      then: (fulfilled, rejected) => sent.then(fulfilled, rejected),
      async expect<Body>(status: number, message?: string) {
        const answer = await sent;
        const said = (answer.body as { error?: { message?: string } } | undefined)?.error?.message;
        if (answer.status !== status || (message !== undefined && said !== message))
          throw new Error(
            `${method} ${path}: ${status} ${message ?? ''} expected, ${answer.status} ${JSON.stringify(answer.body)} answered`,
          );
        return answer.body as Body;
      },
    };
  }

  /** The REST request of a procedure with this input: path parameters, the rest in query or body. */
  function toRest(procedure: string, input: Record<string, unknown>): { method: string; path: string; body: unknown } {
    for (const [template, methods] of Object.entries(contract.document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        if (operation.operationId !== procedure) continue;
        const inPath = new Set([...template.matchAll(/\{(\w+)\}/g)].map(([, key]) => key));
        const path = template.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(input[key])));
        const others = Object.entries(input).filter(([key]) => !inPath.has(key));
        if (method !== 'get' && (method !== 'delete' || operation.requestBody)) {
          const schema = operation.requestBody?.content['application/json']?.schema;
          // an array body is the one key that is not in the path
          const body = schema?.type === 'array' ? others[0]?.[1] : schema && Object.fromEntries(others);
          return { method: method.toUpperCase(), path, body };
        }
        const query = new URLSearchParams(others.map(([key, value]) => [key, String(value)] as [string, string])).toString();
        return { method: method.toUpperCase(), path: query === '' ? path : `${path}?${query}`, body: undefined };
      }
    }
    throw new Error(`no operation ${procedure} in the OpenAPI document`);
  }

  async function callRest(procedure: string, input: Record<string, unknown>, credentials: Credentials): Promise<Outcome> {
    const { method, path, body } = toRest(procedure, input);
    const { status, headers, body: answer } = await request(method, path, body, credentials);
    // the tRPC face returns this as its output
    if (status === 302) return { ok: true, value: { location: headers.get('location') } };
    if (status < 400) return { ok: true, value: answer };
    const { error } = answer as { error: { message: string; data?: string[] } };
    return { ok: false, status, message: error.message, ...(error.data && { data: error.data }) };
  }

  async function callTrpc(procedure: string, input: Record<string, unknown>, credentials: Credentials): Promise<Outcome> {
    const isQuery = toRest(procedure, input).method === 'GET';
    const text = JSON.stringify(input);
    const path = `/trpc/${procedure}${isQuery ? `?input=${encodeURIComponent(text)}` : ''}`;
    const headers = { 'content-type': 'application/json', ...headersOf(credentials) };
    const response = await sendRequest(url + path, { headers, ...(isQuery ? {} : { method: 'POST', body: text }) });
    const answer = JSON.parse(response.text) as {
      result?: { data?: unknown };
      error?: { message: string; data: { httpStatus: number; errorCode: string; data?: string[] } };
    };
    if (!answer.error) return { ok: true, value: answer.result?.data };
    const { message, data } = answer.error;
    if (response.status !== data.httpStatus)
      throw new Error(`${procedure}: status ${response.status}, but httpStatus ${data.httpStatus}`);
    if (!ERROR_CODE.test(data.errorCode)) throw new Error(`${procedure}: ${data.httpStatus} says no code`);
    return { ok: false, status: data.httpStatus, message, ...(data.data && { data: data.data }) };
  }

  return {
    rest,
    /** Calls a procedure by name on one face. */
    call: (
      face: Face,
      procedure: string,
      input: Record<string, unknown> = {},
      credentials: Credentials = {},
    ): Promise<Outcome> => (face === 'rest' ? callRest(procedure, input, credentials) : callTrpc(procedure, input, credentials)),
  };
}
export type Caller = ReturnType<typeof createCaller>;
