import { readdirSync } from 'node:fs';
import path from 'node:path';
import { ApiError, type ErrorFactory } from '@tandem/core';
import { expect, expectTypeOf, it } from 'vitest';
import { SERVICES, type ErrorCode } from '../router.js';
import { SHARED_ERRORS } from './shared-errors.js';

const SOURCES = path.join(import.meta.dirname, '..');

const TABLES = [SHARED_ERRORS, ...SERVICES.map(({ errors }) => errors)].flatMap((groups) => Object.values<object>(groups));

it('every table of errors is shown in the documents, and belongs to the type of all codes', async () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.errors.ts'));
  const modules = await Promise.all(files.map((file) => import(path.join(SOURCES, file)) as Promise<Record<string, object>>));
  const declared = modules.flatMap((module) => Object.entries(module)).filter(([name]) => name.endsWith('Errors'));
  expect(declared.length).toBeGreaterThan(15);
  expect(declared.flatMap(([name, table]) => (TABLES.includes(table) ? [] : [name]))).toEqual([]);
  expectTypeOf<'products.notFound' | 'messageTemplates.notFound' | 'sessions.notFound'>().toExtend<ErrorCode>();
  expectTypeOf<'request.invalid' | 'rules.notSelf' | 'lists.invalidNextToken' | 'trpc.CONFLICT'>().toExtend<ErrorCode>();
  expectTypeOf<string>().not.toExtend<ErrorCode>();
  expectTypeOf<'products.unknown'>().not.toExtend<ErrorCode>();
});

it('every declared error has a code of its own: the service that declares it, and its name there', () => {
  const errors = TABLES.flatMap((table) => Object.entries(table) as [string, ErrorFactory<string>][]);
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
