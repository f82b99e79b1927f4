import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  authenticationErrors,
  errorsOf,
  operationsOf,
  originErrors,
  requestErrors,
  ruleErrors,
  serviceOf,
  whoOf,
  type ErrorDefinition,
} from '@tandem/core';
import { AUTH_MODE_VARIABLES, OAUTH_VARIABLES, VARIABLES } from '@tandem/server';
import {
  RATE_LIMITS,
  REDIRECT_ERRORS,
  SECURITY_EVENTS,
  SERVICES,
  fileAddressErrors,
  fileErrors,
  listErrors,
  type Limit,
} from '@tandem/services';
import { fixture, startTestServer } from '@tandem/testing';
import { format, resolveConfig } from 'prettier';
import { describe, expect, it } from 'vitest';
import { BUNDLES } from '../packages/client/test/bundles.js';

const app = fixture(startTestServer);

function fileOf(name: string): URL {
  return new URL(`../${name}`, import.meta.url);
}

/** The part of a document between its markers. With UPDATE_DOCUMENTS set, it is updated instead. */
function generatedPart(name: string, part: string, expected: string): string {
  const text = readFileSync(fileOf(name), 'utf8');
  const [start, end] = name.endsWith('.md') ? [`<!-- ${part} -->\n\n`, '\n<!-- end -->'] : ['', ''];
  const from = text.indexOf(start) + start.length;
  const to = end === '' ? text.length : text.indexOf(end, from);
  if (from < start.length || to < 0) throw new Error(`${name} has no part ${part}`);
  if (process.env.UPDATE_DOCUMENTS) writeFileSync(fileOf(name), text.slice(0, from) + expected + text.slice(to));
  return process.env.UPDATE_DOCUMENTS ? expected : text.slice(from, to);
}

/** A Markdown table in prettier's layout. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (cells: readonly string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`;
  const [head = [], ...body] = rows;
  return line(head) + line(widths.map((width) => '-'.repeat(width))) + body.map(line).join('');
}

function inOrder(rows: readonly (readonly string[])[]): (readonly string[])[] {
  return rows.toSorted((a, b) => a.join().localeCompare(b.join(), 'en'));
}

/** Rows that differ in the last cell only become one, with these cells listed. */
function joined(rows: readonly (readonly string[])[]): string[][] {
  const groups = new Map<string, string[][]>();
  for (const row of rows) {
    const key = row.slice(0, -1).join();
    groups.set(key, [...(groups.get(key) ?? []), [...row]]);
  }
  return [...groups.values()].map((group) => [...(group[0]?.slice(0, -1) ?? []), group.map((row) => row.at(-1)).join(', ')]);
}

/** The status of success that docs/endpoints.md names only where another one is answered. */
const SUCCESS: Record<string, number> = { GET: 200, POST: 200, PATCH: 200, PUT: 204, DELETE: 204 };

const textOf = ({ status, message }: ErrorDefinition): string => `${status} ${message}`;
const textsOf = (errors: Record<string, ErrorDefinition> | readonly ErrorDefinition[]): string[] =>
  Object.values(errors).map(textOf);

const { notAdmin, notSelf, invalidOwner, notOwner, notMember, notInRole } = ruleErrors;
/** The refusals that docs/endpoints.md says once: for whom, what of `whoOf` that is, and the errors. */
const REFUSALS: readonly (readonly [string, RegExp, readonly ErrorDefinition[]])[] = [
  ['an admin, anybody but a guest', /an admin|a guest/, [notAdmin]],
  ['the identity that a key names', /the identity that \w+ names/, [notSelf]],
  ['the owner, sender or receiver of a record', /the (owner|sender|receiver) of/, [invalidOwner, notOwner]],
  ['an owner, admin or member of the organization', /(owner|admin|member) of the organization(?! of)/, [notMember, notInRole]],
];

const { notFound, notUploaded, otherType, alreadyAttached, beingUploaded, quotaExceeded } = fileErrors;
/** What attaching an uploaded file may answer; docs/files.md lists it. */
const ATTACHING = textsOf([notFound, notUploaded, otherType, alreadyAttached, beingUploaded, quotaExceeded]);

const code = (text: string) => `\`${text}\``;

describe('the documents', () => {
  // the document names them once for all services
  const modes = new Set<string>(Object.values(AUTH_MODE_VARIABLES).map(({ name }) => name));
  const settings = [
    ...Object.entries(VARIABLES).map(([name, { meaning, ...rest }]) => {
      const { fallback, defaultText } = rest as { fallback?: string; defaultText?: string };
      return {
        name,
        meaning,
        fallback,
        shown: fallback === undefined ? (defaultText ?? 'none') : fallback === '' ? 'none' : code(fallback),
      };
    }),
    ...Object.entries(AUTH_MODE_VARIABLES).map(([service, { name }]) => {
      return {
        name,
        meaning: `The mode of the service ${code(service)} alone`,
        fallback: undefined,
        shown: 'that of `AUTH_MODE`',
      };
    }),
    ...OAUTH_VARIABLES.map(({ name, meaning }) => ({ name, meaning, fallback: undefined, shown: 'none' })),
  ];

  it('docs/configuration.md has each variable with its default and meaning', async () => {
    const lines = settings
      .filter(({ name }) => !modes.has(name))
      .map(({ name, shown, meaning }) => `- ${code(name)}${shown === 'none' ? '' : ` (${shown})`}: ${meaning}\n`);
    const file = fileURLToPath(fileOf('docs/configuration.md'));
    const list = await format(lines.join(''), { ...(await resolveConfig(file)), parser: 'markdown' });
    expect(generatedPart('docs/configuration.md', 'variables', list)).toBe(list);
  });

  it('apps/server/.env.example has each variable, commented out with its default', () => {
    const lines = settings
      .map(({ name, meaning, fallback }) => `# ${meaning.replaceAll('`', '')}\n#${name}=${fallback ?? ''}\n`)
      .join('\n');
    expect(generatedPart('apps/server/.env.example', '', lines)).toBe(lines);
  });

  it('docs/errors.md has each declared error with its status', () => {
    const groups: [string, Record<string, ErrorDefinition>][] = [
      ['any request', requestErrors],
      ['authentication', authenticationErrors],
      ['origin check', originErrors],
      ['rules', ruleErrors],
      ['files', fileErrors],
      ['addresses of files', fileAddressErrors],
      ['lists', listErrors],
      ...SERVICES.flatMap(({ errors }): [string, Record<string, ErrorDefinition>][] => Object.entries(errors)),
    ];
    const messages = groups.flatMap(([group, errors]) =>
      Object.values(errors).map(({ status, message }) => [String(status), group, code(message)]),
    );
    const all = table([['Status', 'Of', 'Messages'], ...joined(inOrder(messages))]);
    expect(generatedPart('docs/errors.md', 'errors', all)).toBe(all);
  });

  it('docs/errors.md has what each operation answers when it fails unexpectedly', () => {
    const failures = operationsOf(app.tandem.router).map(({ name, options }) => [code(options.failure), code(name)]);
    const all = table([['Message', 'Operations'], ...joined(inOrder(failures))]);
    expect(generatedPart('docs/errors.md', 'failures', all)).toBe(all);
  });

  it('docs/errors.md has each code with which a browser returns from an identity provider', () => {
    const rows = [
      ['`error=`', 'Means'],
      ...inOrder(Object.entries(REDIRECT_ERRORS).map(([word, meaning]) => [code(word), meaning])),
    ];
    expect(generatedPart('docs/errors.md', 'redirect-errors', table(rows))).toBe(table(rows));
  });

  it('docs/endpoints.md has each operation by its service, with its route, who may call it, success and errors', () => {
    const said = [requestErrors, authenticationErrors, originErrors, listErrors].flatMap(textsOf);
    const operations = operationsOf(app.tandem.router).map((operation) => {
      const { name, method, path, status, options } = operation;
      const who = whoOf(operation);
      const own = errorsOf(operation).filter((error) => error.status < 500).map(textOf).filter((text) => !said.includes(text)); // prettier-ignore
      const expected = REFUSALS.flatMap(([, says, errors]) => (says.test(who) ? textsOf(errors) : []));
      const refusals = own.filter((text) => textsOf(ruleErrors).includes(text));
      const asExpected = refusals.every((text) => expected.includes(text)) && expected.every((text) => refusals.includes(text));
      const attaches = ATTACHING.every((text) => own.includes(text));
      const errors = own.filter((text) => !(asExpected && refusals.includes(text)) && !(attaches && ATTACHING.includes(text)));
      const success = status === SUCCESS[method] ? '' : ` (${status})`;
      const row = [
        code(`${method} ${path}`),
        code(name),
        options.summary + success,
        who,
        [...new Set(errors), ...(attaches ? ['_file errors_'] : [])].join('; '),
      ];
      return [serviceOf(name), row] as const;
    });
    const head = ['Route', 'tRPC', 'Purpose', 'Who may call it', 'Errors of its own'];
    const all = SERVICES.map(({ name: service }) => {
      const rows = operations.filter(([of]) => of === service).map(([, row]) => row);
      return `## ${service}\n\n${table([head, ...inOrder(rows)])}`;
    }).join('\n');
    expect(generatedPart('docs/endpoints.md', 'endpoints', all)).toBe(all);
  });

  it('docs/endpoints.md has the refusals that follow from who may call', () => {
    const refusals = table([
      ['Who may call it', '403'],
      ...REFUSALS.map(([who, , errors]) => [who, errors.map(({ message }) => code(message)).join(', ')]),
    ]);
    expect(generatedPart('docs/endpoints.md', 'refusals', refusals)).toBe(refusals);
  });

  it.each(readdirSync(fileOf('packages')))('packages/%s has a README that says what it is', (name) => {
    expect(readFileSync(fileOf(`packages/${name}/README.md`), 'utf8')).toMatch(new RegExp(`^# @tandem/${name}\\n\\n[A-Z\`]`));
  });

  it('docs/configuration.md has each rate limit', () => {
    const shown = (rate: readonly [number, number] | undefined) =>
      rate === undefined ? '' : rate[1] === 60 ? String(rate[0]) : `${rate[0]} in ${rate[1] / 60} min`;
    const rows = Object.entries(RATE_LIMITS).map(([name, { of, ...rest }]) => {
      const { account = '', perAddress, perAccount }: { account?: string } & Limit = rest;
      return [code(name), of, shown(perAddress), shown(perAccount), account];
    });
    const all = [['Name', 'Of', 'Address', 'Account', 'Which is'], ...rows];
    expect(generatedPart('docs/configuration.md', 'limits', table(all))).toBe(table(all));
  });

  it('docs/security-events.md has each type of event with its severity and meaning', () => {
    const lines = Object.entries(SECURITY_EVENTS).map(
      ([type, [level, meaning]]) => `- ${code(type)}${level === 'info' ? '' : ` (${level})`}: ${meaning}\n`,
    );
    expect(generatedPart('docs/security-events.md', 'events', lines.join(''))).toBe(lines.join(''));
  });

  it('docs/observability.md has each metric of Tandem', async () => {
    const text = await (await fetch(`${app.url}/metrics`)).text();
    const rows = [...text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)$/gm)]
      .map(([, name = '', help = '', type = '']) => [code(name), type, help])
      .filter(([name = '']) => !/^`(process|nodejs)_/.test(name));
    const all = [['Metric', 'Type', 'Meaning'], ...inOrder(rows)];
    expect(generatedPart('docs/observability.md', 'metrics', table(all))).toBe(table(all));
  });

  it('docs/clients.md has the budget of each part of the client', () => {
    const rows = Object.entries(BUNDLES).map(([part, { budget }]) => [part, `${(budget / 1000).toFixed(1)} kB`]);
    const all = [['Part', 'At most'], ...rows];
    expect(generatedPart('docs/clients.md', 'sizes', table(all))).toBe(table(all));
  });
});

describe('the packages', () => {
  it('are tested from src, not from the build', () => {
    expect(import.meta.resolve('@tandem/core')).toContain('/packages/core/src/');
  });
});
