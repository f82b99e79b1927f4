import { operationsOf } from '@tandem/core';
import { describedOperations, fixture, startTestServer } from '@tandem/testing';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createKnownValues } from '../../test/fuzz/known-values.js';
import { listText } from '../../test/fuzz/list-texts.js';
import { createSchemaValues } from '../../test/fuzz/schema-values.js';
import { withoutHostFields } from './host-fields.js';

const RUNS = 60;
const KINDS = ['categories', 'channels', 'identities', 'locations', 'messages', 'orders', 'organizations', 'productVariants', 'products', 'profiles']; // prettier-ignore
const added = z.object({ ref: z.string().optional(), rank: z.number().default(7), marks: z.array(z.string()).optional() });
const app = fixture(() => startTestServer({ code: { fields: Object.fromEntries(KINDS.map((name) => [name, added])) } }));

/** Operations that take what this test does not make, such as a token: the other tests of hooks see to them. */
const UNTRIED = 7;

it('what an operation validated passes its validation again, unchanged: hooks return it', async () => {
  const document = await app.tandem.openApi({ title: '', description: '', version: '', url: '/' });
  const valueOf = createSchemaValues(document, createKnownValues());
  const operations = new Map(operationsOf(app.tandem.router).map((one) => [one.name, one]));
  const untried: string[] = [];
  for (const { name, path, parameters, body } of describedOperations(document)) {
    const { schema, bodyKey } = operations.get(name) ?? {};
    const given = parameters.filter((one) => one.in !== 'header');
    const requiredKeys = given.filter(({ required }) => required).map((one) => one.name);
    const texts = given.map((one) => [one.name, listText(one.name, one.schema) ?? valueOf(one.schema, one.name, path)] as const);
    const inBody = body ? valueOf(body, '', path) : fc.constant({});
    // more of them seldom go together
    const optional = texts.filter(([key]) => !requiredKeys.includes(key));
    const few = fc.subarray(optional, { maxLength: Math.min(2, optional.length) });
    const required = texts.filter(([key]) => requiredKeys.includes(key));
    const inputs = fc.tuple(
      few.chain((some) => fc.record(Object.fromEntries([...required, ...some]))),
      inBody,
    );
    let count = 0;
    for (const [outside, inside] of fc.sample(inputs, { numRuns: RUNS, seed: 7 })) {
      const input = { ...outside, ...(bodyKey === undefined ? (inside as object) : { [bodyKey]: inside }) };
      const first = await schema?.safeParseAsync(input);
      if (!first?.success) continue;
      count += 1;
      const second = await schema?.safeParseAsync(structuredClone(withoutHostFields(first.data)));
      expect([name, second?.data]).toEqual([name, first.data]);
    }
    if (schema && count === 0) untried.push(name);
  }
  expect(untried.length, untried.join()).toBeLessThanOrEqual(UNTRIED);
});

it.each([
  ['products.create', { name: 'Tea', description: '' }],
  ['orders.patch', { orderId: crypto.randomUUID(), privateMetadata: { hostFields: 'b' } }],
])('data of %s in a key of the name under which fields of hosts are kept stays there', async (name, given) => {
  const schema = operationsOf(app.tandem.router).find((one) => one.name === name)?.schema;
  for (const own of [{}, { ref: 'a' }]) {
    const input = { ...given, ...own, metadata: { hostFields: 'a', other: 1 } };
    const first = await schema?.parseAsync(input);
    expect(withoutHostFields(first)).toMatchObject(input);
    expect(await schema?.parseAsync(structuredClone(withoutHostFields(first)))).toEqual(first);
  }
});
