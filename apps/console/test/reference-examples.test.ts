import { fixture, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { compileSamples } from '../../../test/samples.js';
import type { ApiDocument } from '../src/reference/document.js';
import { asTypedClient, sampleCall } from '../src/reference/examples.js';
import { readReference } from '../src/reference/reference.js';

const app = fixture(startTestServer);

async function readApi() {
  const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as ApiDocument;
  const reference = readReference(document, app.url);
  return { reference, operations: reference.services.flatMap((service) => service.operations) };
}

it('every example with the typed client compiles', async () => {
  const { reference, operations } = await readApi();
  expect(operations.length).toBeGreaterThan(150);
  const samples = operations.map((operation) => asTypedClient(operation, reference, sampleCall(operation, reference)));
  const errors = await compileSamples(samples);
  expect(errors.replace(/sample-(\d+)/g, (name, at: number) => operations[at]?.id ?? name)).toBe('');
});
