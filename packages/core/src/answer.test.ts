import { TRPCError } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { declaredError, toEnvelope } from './answer.js';
import { describeError } from './error-log.js';
import { ApiError, defineErrors, requestErrors, unexpectedError, validationError } from './errors.js';

const errors = defineErrors('things', { gone: [404, 'Thing {name} not found'] });
const http = (status: number, type?: string) => Object.assign(new Error('of the parser'), { status, type });

describe('an error is translated to what a caller may see', () => {
  const invalid = (problem: string) => [400, 'Validation Error', [problem]];
  const rows: [what: string, error: unknown, shown: unknown][] = [
    ['declared', errors.gone({ name: 'x' }), [404, 'Thing x not found', undefined]],
    ['declared, within tRPC’s', new TRPCError({ code: 'BAD_REQUEST', cause: errors.gone({ name: 'x' }) }), [404, 'Thing x not found', undefined]],
    ['malformed JSON', http(400, 'entity.parse.failed'), invalid('request body must be valid JSON')],
    ['too large', http(413), [413, 'request entity too large', undefined]],
    ['of a wrong encoding', http(415), [415, 'Unsupported content type', undefined]],
    ['a malformed path', Object.assign(new URIError('x'), { status: 400 }), invalid('path must be correctly percent-encoded')],
    ['a body that breaks off', http(400, 'request.aborted'), invalid('request body must be complete and correctly encoded')],
    ['a body that cannot be decompressed', Object.assign(new Error('x'), { status: 400, code: 'Z_DATA_ERROR' }), invalid('request body must be complete and correctly encoded')],
    ['a bad request of a host’s route', Object.assign(new Error('x'), { status: 400, expose: true }), [400, 'Bad Request', undefined]],
    ['within tRPC’s, of the parser', new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause: http(413) }), [413, 'request entity too large', undefined]],
    ['within tRPC’s, of the parser, unknown', new TRPCError({ code: 'NOT_FOUND', cause: http(418) }), [404, 'Not Found', undefined]],
    ['of another status', http(418), undefined],
    ['of a host’s route', Object.assign(http(403), { expose: true }), [403, 'Forbidden', undefined]],
    ['of a host’s route, without a declared status', Object.assign(http(418), { expose: true }), undefined],
    ['of nothing', new Error('x'), undefined],
    ['no error', { status: 413 }, undefined],
    ['no value', undefined, undefined],
    ['PARSE_ERROR', new TRPCError({ code: 'PARSE_ERROR' }), invalid('request body must be valid JSON')],
    ['BAD_REQUEST of a parser', new TRPCError({ code: 'BAD_REQUEST', cause: new SyntaxError('x') }), invalid('request body must be valid JSON')],
    ['BAD_REQUEST', new TRPCError({ code: 'BAD_REQUEST' }), invalid('request must be a valid tRPC call')],
    ['NOT_FOUND', new TRPCError({ code: 'NOT_FOUND' }), [404, 'Not Found', undefined]],
    ['METHOD_NOT_SUPPORTED', new TRPCError({ code: 'METHOD_NOT_SUPPORTED' }), [405, 'Method Not Allowed', undefined]],
    ['PAYLOAD_TOO_LARGE', new TRPCError({ code: 'PAYLOAD_TOO_LARGE' }), [413, 'request entity too large', undefined]],
    ['UNSUPPORTED_MEDIA_TYPE', new TRPCError({ code: 'UNSUPPORTED_MEDIA_TYPE' }), [415, 'Unsupported content type', undefined]],
    ['INTERNAL_SERVER_ERROR', new TRPCError({ code: 'INTERNAL_SERVER_ERROR' }), undefined],
  ]; // prettier-ignore
  it.each(rows)('%s', (_what, error, shown) => {
    const declared = declaredError(error);
    expect(declared && [declared.status, declared.message, declared.data]).toEqual(shown);
  });

  it('in the envelope, which has no code: data only for validation errors, and nothing of unexpected failures', () => {
    expect(toEnvelope(validationError(['a', 'b']), false)).toEqual({
      status: 400,
      headers: { 'x-error-code': 'request.invalid' },
      body: { error: { message: 'Validation Error', data: ['a', 'b'] } },
    });
    expect(toEnvelope(requestErrors.tooMany({ retryAfter: 7 }), false)).toEqual({
      status: 429,
      headers: { 'x-error-code': 'request.tooMany', 'retry-after': '7' },
      body: { error: { message: 'Too many requests' } },
    });
    expect(toEnvelope(new Error('secret'), false)).toEqual({
      status: 500,
      headers: { 'x-error-code': 'request.unexpected' },
      body: { error: { message: 'Internal Server Error' } },
    });
  });

  it('with a stack in development, of the innermost cause and without values', () => {
    const stackOf = (error: unknown) => toEnvelope(error, true).body.error.stack;
    const inner = new TypeError('no "secret" here');
    expect(stackOf(new Error('outer', { cause: new Error('between', { cause: inner }) }))).toMatch(
      /^TypeError: no … here\n    at /,
    );
    expect(stackOf(errors.gone({ name: 'x' }))).toMatch(/^ApiError: Thing x not found\n/);
    expect(stackOf('text')).toBeUndefined();
    expect(stackOf(Object.assign(new Error('bare'), { stack: undefined }))).toBe('Error: bare');
  });
});

describe('an error', () => {
  it('lists the first 20 problems, and says that there are more', () => {
    const problems = Array.from({ length: 21 }, (_, n) => `problem ${n}`);
    expect(validationError(problems.slice(0, 20)).data).toEqual(problems.slice(0, 20));
    expect(validationError(problems).data).toEqual([...problems.slice(0, 20), 'there are more problems']);
  });

  it('when unexpected is 503 with a time to retry if the store was unavailable, else 500', () => {
    const cause = new Error('x');
    expect(unexpectedError('Failed', { isUnavailable: true, cause })).toMatchObject({
      status: 503,
      retryAfter: 2,
      errorCode: 'request.unavailable',
      cause,
    });
    expect(unexpectedError('Failed', { isUnavailable: false, cause })).toMatchObject({
      status: 500,
      retryAfter: undefined,
      errorCode: 'request.unexpected',
    });
  });

  it.each([
    [429, true],
    [500, true],
    [503, true],
    [422, false],
    [409, false],
  ] as const)('of status %i may pass: %s', (status, mayPass) => {
    expect(new ApiError(status, 'x', { errorCode: 'x.y' }).mayPass).toBe(mayPass);
  });

  it('declares its code, its status and its text', () => {
    const { status, message, errorCode } = errors.gone;
    expect([status, message, errorCode]).toEqual([404, 'Thing {name} not found', 'things.gone']);
    expect(errors.gone({ name: 'x' })).toMatchObject({ name: 'ApiError', code: 'NOT_FOUND', errorCode: 'things.gone' });
    expect(ApiError.fromTrpc(new TRPCError({ code: 'CONFLICT', message: 'm' }))).toMatchObject({
      status: 409,
      message: 'm',
      errorCode: 'trpc.CONFLICT',
    });
    expect(ApiError.fromTrpc(new TRPCError({ code: 'TEAPOT' as 'CONFLICT' }))).toMatchObject({ status: 500 });
  });
});

describe('the log of an error', () => {
  it.each([
    ['a document {"email":"ann"} was refused', 'a document … was refused'],
    [`dup key "a b" 'c' \`d\``, 'dup key … … …'],
    ['to ann@example.org now', 'to … now'],
    ['hash $2b$12$abcdef.', 'hash …'],
    [`token ${'x'.repeat(40)} and ${'y'.repeat(39)}`, `token … and ${'y'.repeat(39)}`],
  ])('has no values: %s', (message, logged) => {
    expect(describeError(new Error(message)).message).toBe(logged);
  });

  it('shows nothing of a parser’s text', () => {
    expect(describeError(new SyntaxError('Unexpected token a'))).toMatchObject({
      type: 'SyntaxError',
      message: 'a text could not be parsed',
    });
  });

  it('has the code, only the frames of the stack, and causes to a depth of three', () => {
    const logged = describeError(Object.assign(new Error('first line\nsecond'), { code: 11_000 }));
    expect(logged.code).toBe(11_000);
    expect(logged.stack?.length).toBeGreaterThan(0);
    expect(logged.stack?.every((frame) => frame.startsWith('at '))).toBe(true);
    expect(describeError(Object.assign(new Error('x'), { code: 'EPIPE' })).code).toBe('EPIPE');
    expect(describeError(Object.assign(new Error('x'), { code: { secret: 1 } }))).not.toHaveProperty('code');
    const deep = [1, 2, 3, 4].reduce((cause, n) => new Error(`level ${n}`, { cause }), new Error('level 0'));
    expect(describeError(deep).cause?.cause?.cause).toMatchObject({ message: 'level 1' });
    expect(describeError(deep).cause?.cause?.cause).not.toHaveProperty('cause');
    expect(describeError('secret')).toEqual({ type: 'string', message: 'a value that is not an error was thrown' });
    const bare = Object.assign(new Error('x'), { stack: undefined });
    expect(describeError(bare)).toEqual({ type: 'Error', message: 'x' });
  });
});
