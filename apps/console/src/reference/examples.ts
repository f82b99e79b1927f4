import type { SecurityScheme } from './document.js';
import type { Operation, Reference } from './reference.js';
import { sampleOf } from './sample.js';

/** What is sent to an operation: texts of its parameters by name, and its body. */
export interface Sent {
  path: Record<string, string>;
  query: Record<string, unknown>;
  headers: Record<string, string>;
  body?: unknown;
}

/** The sample call of an operation: what it requires, and a condition where it is a list. */
export function sampleCall({ parameters, body }: Operation, { resolve }: Reference): Sent {
  const sent: Sent = { path: {}, query: {}, headers: {} };
  for (const { name, in: place, required, example, schema = {} } of parameters) {
    if (!required && !(name === '$filter' && example !== undefined)) continue;
    const value = example ?? sampleOf(schema, resolve);
    if (place === 'path') sent.path[name] = String(value);
    else if (place === 'query') sent.query[name] = value;
    else if (place === 'header') sent.headers[name] = String(value);
  }
  return body ? { ...sent, body: sampleOf(body.schema, resolve) } : sent;
}

/** The path with its parameters filled in. */
export function filledPath(path: string, values: Record<string, string>): string {
  return path.replace(/\{([^}]+)\}/g, (braced, name: string) =>
    values[name] === undefined ? braced : encodeURIComponent(values[name]),
  );
}

/** The address of a call, with its query. */
export function addressOf(url: string, { path }: Operation, sent: Sent): string {
  const pairs = Object.entries(sent.query).map(([name, value]): [string, string] => [name, String(value)]);
  const query = new URLSearchParams(pairs).toString();
  return `${url}${filledPath(path, sent.path)}${query === '' ? '' : `?${query}`}`;
}

const schemeOf = ({ schemes }: Operation, reference: Reference): SecurityScheme | undefined =>
  schemes.map((name) => reference.schemes[name]).find((scheme) => scheme !== undefined);

/** Whether an operation needs credentials, and they are a cookie. */
const isByCookie = (scheme: SecurityScheme | undefined) => scheme?.in === 'cookie';

const inShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function asCurl(operation: Operation, reference: Reference, sent: Sent): string {
  const { method, isOpen } = operation;
  const scheme = isOpen ? undefined : schemeOf(operation, reference);
  const query = Object.entries(sent.query);
  const address = `${reference.url}${filledPath(operation.path, sent.path)}`;
  // -G makes GET the default
  const flags = method === 'GET' ? (query.length > 0 ? ' -G' : '') : ` -X ${method}`;
  const parts = [
    `curl${flags} ${inShell(method === 'GET' ? address : addressOf(reference.url, operation, sent))}`,
    ...(scheme && isByCookie(scheme) ? [`-b "${scheme.name}=$ACCESS_TOKEN"`] : []),
    ...(scheme && !isByCookie(scheme) ? ['-H "authorization: Bearer $ACCESS_TOKEN"'] : []),
    ...Object.entries(sent.headers).map(([name, value]) => `-H ${inShell(`${name}: ${value}`)}`),
    ...(method === 'GET' ? query.map(([name, value]) => `--data-urlencode ${inShell(`${name}=${String(value)}`)}`) : []),
    ...(sent.body === undefined
      ? []
      : [`-H 'content-type: ${operation.body?.type}'`, `-d ${inShell(JSON.stringify(sent.body, undefined, 2))}`]),
  ];
  return parts.join(' \\\n  ');
}

const isIdentifier = (name: string) => /^[A-Za-z_$][\w$]*$/.test(name);

/** A value as it stands in a script. */
export function asSource(value: unknown, indent = ''): string {
  if (typeof value === 'string') return `'${value.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${value.map((one) => asSource(one, indent)).join(', ')}]`;
  const pairs = Object.entries(value).map(
    ([name, one]) => `${isIdentifier(name) ? name : asSource(name)}: ${asSource(one, inner)}`,
  );
  if (pairs.length === 0) return '{}';
  const short = `{ ${pairs.join(', ')} }`;
  return indent.length + short.length <= 60 && !short.includes('\n')
    ? short
    : `{\n${inner}${pairs.join(`,\n${inner}`)},\n${indent}}`;
}

/** The answer of success. */
const successOf = ({ answers }: Operation) => answers.find(({ status }) => /^[23]/.test(status));

export function asFetch(operation: Operation, reference: Reference, sent: Sent): string {
  const { method, isOpen } = operation;
  const scheme = isOpen ? undefined : schemeOf(operation, reference);
  const headers = [
    ...(scheme && !isByCookie(scheme) ? ['authorization: `Bearer ${accessToken}`'] : []),
    ...Object.entries(sent.headers).map(([name, value]) => `${isIdentifier(name) ? name : asSource(name)}: ${asSource(value)}`),
    ...(sent.body === undefined ? [] : [`'content-type': ${asSource(operation.body?.type)}`]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(isByCookie(scheme) ? ["credentials: 'include'"] : []),
    ...(headers.length > 0 ? [`headers: { ${headers.join(', ')} }`] : []),
    ...(sent.body === undefined ? [] : [`body: JSON.stringify(${asSource(sent.body, '  ')})`]),
  ];
  const query = Object.keys(sent.query).length > 0;
  const address = asSource(`${reference.url}${filledPath(operation.path, sent.path)}`);
  return [
    ...(query ? [`const query = new URLSearchParams(${asSource(sent.query)});`] : []),
    `const response = await fetch(${query ? `\`${address.slice(1, -1)}?\${query}\`` : address}${options.length === 0 ? '' : `, {\n  ${options.join(',\n  ')},\n}`});`,
    ...(successOf(operation)?.schema ? ['const answer = await response.json();'] : []),
  ].join('\n');
}

export function asTypedClient(operation: Operation, reference: Reference, sent: Sent): string {
  const { id, method, body, parameters } = operation;
  const inBody = body && !isPlainObject(sent.body) ? { [body.name]: sent.body } : (sent.body as object);
  const hasInput = body !== undefined || parameters.some((parameter) => parameter.in !== 'header');
  const input = hasInput ? asSource({ ...sent.path, ...sent.query, ...inBody }) : '';
  const call = `client.api.${id}.${method === 'GET' ? 'query' : 'mutate'}(${input})`;
  const mode = isByCookie(schemeOf(operation, reference)) ? ", mode: 'cookie'" : '';
  return [
    "import { createTandemClient } from '@tandem/client';",
    '',
    `const client = createTandemClient({ url: ${asSource(reference.url)}${mode} });`,
    successOf(operation)?.schema ? `const answer = await ${call};` : `await ${call};`,
  ].join('\n');
}

const isPlainObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
