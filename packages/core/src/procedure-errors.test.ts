import { TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { startCoreServer } from '../test/core-server.js';
import { defineErrors, publicProcedure, rest, router } from './index.js';

const errors = defineErrors('things', { busy: [409, 'Thing is busy'] });
const route = (path: `/${string}`) =>
  publicProcedure.meta(rest(`POST ${path}`, { summary: 'of a test', failure: 'Failed to do it' })).output(z.void());
const things = () =>
  router({
    things: router({
      busy: route('/busy').mutation(() => { throw errors.busy(); }), // prettier-ignore
      fails: route('/fails').mutation(() => { throw new TypeError('secret'); }), // prettier-ignore
      tooFar: route('/too-far').mutation(() => { throw new RangeError('secret'); }), // prettier-ignore
      refusesCall: route('/refuses-call').mutation(() => { throw new TRPCError({ code: 'BAD_REQUEST', message: 'of a host' }); }), // prettier-ignore
      conflicts: route('/conflicts').mutation(() => { throw new TRPCError({ code: 'CONFLICT', message: 'of a host', cause: new TypeError('secret') }); }), // prettier-ignore
      set: route('/set').input(z.strictObject({ name: z.string().optional() })).mutation(() => {}), // prettier-ignore
    }),
  });

it('an error on the tRPC face has its codes, status and procedure, and the problems of its input', async () => {
  await using served = await startCoreServer(things());
  expect((await served.ask('POST', '/trpc/things.busy')).body).toEqual({
    error: {
      message: 'Thing is busy',
      code: -32009,
      data: { code: 'CONFLICT', httpStatus: 409, errorCode: 'things.busy', path: 'things.busy' },
    },
  });
  expect((await served.ask('POST', '/trpc/things.set', { body: '{"name":5}' })).body).toEqual({
    error: {
      message: 'Validation Error',
      code: -32600,
      data: {
        code: 'BAD_REQUEST',
        httpStatus: 400,
        errorCode: 'request.invalid',
        path: 'things.set',
        data: ['request body/name must be string'],
      },
    },
  });
});

it('an error shows its stack on the tRPC face in development only', async () => {
  const stackIn = async (development: boolean) => {
    await using served = await startCoreServer(things(), { facts: { development } });
    const { body } = await served.ask('POST', '/trpc/things.fails');
    return (body as { error: { data: { stack?: string } } }).error.data.stack;
  };
  expect(await stackIn(true)).toContain('TypeError');
  expect(await stackIn(false)).toBeUndefined();
});

it('an error of a procedure is that of the caller only if it says so, whatever its cause', async () => {
  await using served = await startCoreServer(things());
  const answered = async (path: string) => {
    const { status, body, headers } = await served.ask('POST', path);
    return [status, (body as { error: { message: string } }).error.message, headers.get('retry-after')];
  };
  expect(await answered('/too-far')).toEqual([500, 'Failed to do it', null]);
  expect(await answered('/refuses-call')).toEqual([400, 'of a host', null]);
  expect(await answered('/conflicts')).toEqual([409, 'of a host', null]);
  expect(served.lines.map(({ facts }) => facts)).toMatchObject([{ procedure: 'things.tooFar', err: { type: 'RangeError' } }]);
});

it('an error has the same code on both faces, whoever declares it, also outside the procedures', async () => {
  await using served = await startCoreServer(things());
  const codes = async (path: string, request = {}) => {
    const ofTrpc = (await served.ask('POST', `/trpc/things.${path}`, request)).body as { error: { data: { errorCode: string } } };
    const { headers, body } = await served.ask('POST', `/${path}`, request);
    expect(Object.keys((body as { error: object }).error)).not.toContain('errorCode');
    return [headers.get('x-error-code'), ofTrpc.error.data.errorCode];
  };
  const both = (code: string) => [code, code];
  expect(await codes('busy')).toEqual(both('things.busy'));
  expect(await codes('fails')).toEqual(both('request.unexpected'));
  expect(await codes('set', { body: '{' })).toEqual(both('request.invalid'));
  expect(await codes('set', { body: 'x', headers: { 'content-type': 'text/css' } })).toEqual(both('request.unsupportedType'));
  expect(await codes('set', { body: JSON.stringify('x'.repeat(2e6)) })).toEqual(both('request.tooLarge'));
  expect(await codes('conflicts')).toEqual(both('trpc.CONFLICT'));
  expect(await codes('nothing')).toEqual(both('request.noSuchRoute'));
});

it('absent input is empty, and input may be as long as its service allows', async () => {
  const body = '{"name":"abc"}';
  await using served = await startCoreServer(things(), { facts: { inputLimits: { things: body.length } } });
  const answered = async (given: { body?: string }) => {
    const { status } = await served.ask('POST', '/trpc/things.set', {
      headers: { 'content-type': 'application/json' },
      ...given,
    });
    return status;
  };
  expect([await answered({}), await answered({ body }), await answered({ body: '{"name":"abcd"}' })]).toEqual([200, 200, 413]);
});
