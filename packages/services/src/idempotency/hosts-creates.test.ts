import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { router } from '@tandem/core';
import { fixture, startTestServer } from '@tandem/testing';
import { TRPCError, type AnyTRPCRouter } from '@trpc/server';
import express from 'express';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createRoute } from '../shared/record-routes.js';

const app = fixture(() => startTestServer());
const admin = fixture(() => app.signUpAdmin());

/** Creates of a host: what they answer to several calls one after the other with one key. */
async function answersOf(own: AnyTRPCRouter, path: string, bodies: readonly object[]) {
  const server = express().use(app.tandem.routes(own)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const authorization = `Bearer ${admin.accessToken}`;
  const headers = { authorization, 'idempotency-key': randomUUID(), 'content-type': 'application/json' };
  const answers: { status: number; body: Record<string, unknown> }[] = [];
  for (const body of bodies) {
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    answers.push({ status: answer.status, body: (await answer.json()) as Record<string, unknown> });
  }
  server.closeAllConnections();
  server.close();
  return answers;
}

it('an Idempotency-Key that is sent again is answered without what is shown once', async () => {
  const output = z.object({ id: z.string(), secret: z.string().optional() });
  const own = router({
    secrets: router({
      create: createRoute({ one: 'secret', output }, 'POST /secrets', z.strictObject({}), { shownOnce: ['secret'] }).mutation(
        ({ ctx }) => ({ id: ctx.newId?.() ?? '', secret: 'a secret' }),
      ),
    }),
  });
  const answers = await answersOf(own, '/secrets', [{}, {}]);
  const id = answers[0]?.body['id'];
  expect(answers).toEqual([
    { status: 201, body: { id, secret: 'a secret' } },
    { status: 201, body: { id } },
  ]);
});

it("an Idempotency-Key is free after a host's refusal in tRPC's terms, but not after a failure", async () => {
  const output = z.object({ id: z.string() });
  const input = z.strictObject({
    fault: z.enum(['CONFLICT', 'PAYMENT_REQUIRED', 'TIMEOUT', 'BAD_REQUEST', 'INTERNAL_SERVER_ERROR']).optional(),
  });
  const own = router({
    parcels: router({
      create: createRoute({ one: 'parcel', output }, 'POST /parcels', input).mutation(({ ctx, input: { fault } }) => {
        if (fault) throw new TRPCError({ code: fault, cause: fault === 'BAD_REQUEST' ? new TypeError('a bug') : undefined });
        return { id: ctx.newId?.() ?? '' };
      }),
    }),
  });
  const statuses = async (fault: string) => (await answersOf(own, '/parcels', [{ fault }, {}])).map(({ status }) => status);
  expect(await statuses('CONFLICT')).toEqual([409, 201]);
  expect(await statuses('PAYMENT_REQUIRED')).toEqual([402, 201]);
  expect(await statuses('TIMEOUT')).toEqual([408, 422]);
  expect(await statuses('BAD_REQUEST')).toEqual([500, 422]);
  expect(await statuses('INTERNAL_SERVER_ERROR')).toEqual([500, 422]);
});

it('an Idempotency-Key is for the body as it was given: a default may differ each time', async () => {
  const output = z.object({ id: z.string(), code: z.string() });
  const input = z.strictObject({ note: z.string().optional(), to: z.string(), code: z.string().default(() => randomUUID()) });
  const own = router({
    parcels: router({
      create: createRoute({ one: 'parcel', output }, 'POST /parcels', input).mutation(({ ctx, input: { code } }) => ({
        id: ctx.newId?.() ?? '',
        code,
      })),
    }),
  });
  const [first, second, other] = await answersOf(own, '/parcels', [{ to: 'a', note: 'b' }, { note: 'b', to: 'a' }, { to: 'b' }]);
  expect([first?.status, second, other?.status]).toEqual([201, first, 422]);
});
