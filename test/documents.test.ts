import { readFileSync, readdirSync } from 'node:fs';
import { operationsOf, serviceOf, type ErrorDefinition } from '@tandem/core';
import { AUTH_MODE_VARIABLES, OAUTH_VARIABLES, VARIABLES } from '@tandem/server';
import { RATE_LIMITS, REDIRECT_ERRORS, SECURITY_EVENTS, SERVICES, SHARED_ERRORS, type Limit } from '@tandem/services';
import { fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { BUNDLES } from '../packages/client/test/bundles.js';
import { endpointTables, refusalsTable } from './endpoint-tables.js';
import { fileOf, generatedPart } from './generated-part.js';
import { code, formatted, inOrder, joined, list, table } from './tables.js';

const app = fixture(startTestServer);

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
    const rows = settings
      .filter(({ name }) => !modes.has(name))
      .map(({ name, shown, meaning }) => [`${code(name)}${shown === 'none' ? '' : ` (${shown})`}`, meaning]);
    const all = await list(rows);
    expect(generatedPart('docs/configuration.md', 'variables', all)).toBe(all);
  });

  it('apps/server/.env.example has each variable, commented out with its default', () => {
    const lines = settings
      .map(({ name, meaning, fallback }) => `# ${meaning.replaceAll('`', '')}\n#${name}=${fallback ?? ''}\n`)
      .join('\n');
    expect(generatedPart('apps/server/.env.example', '', lines)).toBe(lines);
  });

  it('docs/errors.md has each declared error with its code, status and text', () => {
    const groups = [SHARED_ERRORS, ...SERVICES.map(({ errors }) => errors)].flatMap((one) =>
      Object.values<Record<string, ErrorDefinition>>(one),
    );
    const rows = groups.flatMap((errors) =>
      Object.values(errors).map(({ errorCode = '', status, message }) => [code(errorCode), String(status), code(message)]),
    );
    const all = [['Code', 'Status', 'Text'], ...rows];
    expect(generatedPart('docs/errors.md', 'errors', table(all))).toBe(table(all));
  });

  it('docs/errors.md has what each operation answers when it fails unexpectedly', async () => {
    const failures = operationsOf(app.tandem.router).map(({ name, options }) => {
      const [, verb = '', entity = ''] = /^(Failed to \w+) (.*)$/.exec(options.failure) ?? [];
      return [code(verb), code(entity), code(name)];
    });
    const entities = joined(inOrder(failures)).map(([verb = '', entity, names]) => [verb, `${entity} (${names})`]);
    const all = await list(joined(entities));
    expect(generatedPart('docs/errors.md', 'failures', all)).toBe(all);
  });

  it('docs/errors.md has each code with which a browser returns from an identity provider', () => {
    const rows = [
      ['`error=`', 'Means'],
      ...inOrder(Object.entries(REDIRECT_ERRORS).map(([word, meaning]) => [code(word), meaning])),
    ];
    expect(generatedPart('docs/errors.md', 'redirect-errors', table(rows))).toBe(table(rows));
  });

  it('docs/endpoints.md has each operation by its service, with its route, who may call it, success and errors', async () => {
    const all = await formatted(endpointTables(operationsOf(app.tandem.router)));
    expect(generatedPart('docs/endpoints.md', 'endpoints', all)).toBe(all);
  });

  it('docs/endpoints.md has the refusals that follow from who may call', () => {
    expect(generatedPart('docs/endpoints.md', 'refusals', refusalsTable())).toBe(refusalsTable());
  });

  it.each(readdirSync(fileOf('packages')))('packages/%s has a README that says what it is', (name) => {
    expect(readFileSync(fileOf(`packages/${name}/README.md`), 'utf8')).toMatch(new RegExp(`^# (@tandem/)?${name}\\n\\n[A-Z\`]`));
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

  it('docs/security-events.md has each type of event with its severity and meaning', async () => {
    const rows = Object.entries(SECURITY_EVENTS).map(([type, [level, meaning]]) => [
      `${code(type)}${level === 'info' ? '' : ` (${level})`}`,
      meaning,
    ]);
    const all = await list(rows);
    expect(generatedPart('docs/security-events.md', 'events', all)).toBe(all);
  });

  it('docs/events.md has each kind of record of which events tell, with the service that declares it', () => {
    const told = SERVICES.flatMap(({ name, tells = [] }) => tells.map((kind) => [code(kind), code(name)]));
    expect(new Set(told.map(([kind]) => kind))).toEqual(new Set(app.tandem.services.lists.kinds().map(code)));
    const all = [['Kind', 'Service'], ...told.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1))];
    expect(generatedPart('docs/events.md', 'kinds', table(all))).toBe(table(all));
  });

  it('docs/observability.md has each metric of Tandem', async () => {
    const text = await (await fetch(`${app.url}/metrics`)).text();
    const rows = [...text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)$/gm)]
      .map(([, name = '', help = '', type = '']) => [code(name), type, help])
      .filter(([name = '']) => !/^`(process|nodejs)_/.test(name));
    const all = [['Metric', 'Type', 'Meaning'], ...inOrder(rows)];
    expect(generatedPart('docs/observability.md', 'metrics', table(all))).toBe(table(all));
  });

  it('ARCHITECTURE.md has each service, with the number of its operations and its lists', () => {
    const operations = operationsOf(app.tandem.router).map(({ name }) => serviceOf(name));
    const rows = SERVICES.map(({ name, lists }) => [
      code(name),
      String(operations.filter((of) => of === name).length),
      Object.keys(lists).map(code).join(', '),
    ]);
    const all = [['Service', 'Operations', 'Lists'], ...inOrder(rows)];
    expect(generatedPart('ARCHITECTURE.md', 'services', table(all))).toBe(table(all));
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
