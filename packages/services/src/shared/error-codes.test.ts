import { readdirSync } from 'node:fs';
import path from 'node:path';
import { ApiError, authenticationErrors, originErrors, requestErrors, ruleErrors, type ErrorFactory } from '@tandem/core';
import { expect, it } from 'vitest';

const SOURCES = path.join(import.meta.dirname, '..');

it('every declared error has a code of its own: the service that declares it, and its name there', async () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.errors.ts'));
  const modules = await Promise.all(files.map((file) => import(path.join(SOURCES, file)) as Promise<Record<string, object>>));
  const tables = modules.flatMap((module) => Object.entries(module)).filter(([name]) => name.endsWith('Errors'));
  const errors = [...tables.map(([, table]) => table), authenticationErrors, originErrors, requestErrors, ruleErrors].flatMap(
    (table) => Object.entries(table) as [string, ErrorFactory<string>][],
  );
  expect(errors.length).toBeGreaterThan(90);
  for (const [name, { errorCode }] of errors) expect(errorCode).toMatch(new RegExp(`^[a-z]\\w+\\.${name}$`));
  const codes = errors.map(([, { errorCode }]) => errorCode);
  expect(codes.filter((code, at) => codes.indexOf(code) !== at)).toEqual([]);
});

it('what may pass later are limits and failures of the server, and nothing else', () => {
  const passing = [400, 401, 403, 404, 409, 413, 422, 429, 500, 503] as const;
  const details = { errorCode: 'a.b' };
  expect(passing.filter((status) => new ApiError(status, 'x', details).mayPass)).toEqual([429, 500, 503]);
});
