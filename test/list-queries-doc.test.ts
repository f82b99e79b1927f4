import { readFileSync } from 'node:fs';
import { fixture, startTestServer } from '@tandem/testing';
import { beforeAll, expect, it } from 'vitest';

const text = readFileSync(new URL('../docs/list-queries.md', import.meta.url), 'utf8');

/** The blocks after the markers of a name. */
function blocks(name: string): string[] {
  const marked = new RegExp(`<!-- ${name}[^\\n]* -->\\n\\n\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``, 'g');
  return [...text.matchAll(marked)].map(([, block = '']) => block.trim());
}

/** A query as the document writes it, percent-encoded. */
function encoded(query: string): string {
  const parameters = query.split(/&(?=[$a-z]+=)/).map((part) => part.split(/=(.*)/s, 2));
  return parameters.map(([name = '', value = '']) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
}

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
beforeAll(async () => {
  for (const { name, typeId } of [
    { name: 'Bakery', typeId: 'shop' },
    { name: 'Harbour', typeId: 'shop' },
    { name: "O'Brien & Sons", typeId: undefined },
  ]) {
    // prettier-ignore
    const organization = { name, description: '', contact_email: 'a@example.org', ...(typeId !== undefined && { typeId }) };
    await admin.rest('POST', '/organizations', { organization }).expect(201);
  }
});

it('docs/list-queries.md has queries that are answered', async () => {
  const queries = blocks('answered').flatMap((block) => block.split('\n'));
  expect(queries.length).toBeGreaterThan(15);
  for (const query of queries)
    expect(await admin.rest('GET', `/organizations?${encoded(query)}`), query).toMatchObject({ status: 200 });
});

it('docs/list-queries.md has the texts of refusals', async () => {
  const cases = blocks('refused').flatMap((block) => block.split('\n\n').map((pair) => pair.split('\n')));
  expect(cases.length).toBeGreaterThan(5);
  for (const [query = '', problem = ''] of cases) {
    const refused = { error: { message: 'Validation Error', data: [problem] } };
    expect(await admin.rest('GET', `/organizations?${encoded(query)}`).expect(400), query).toEqual(refused);
  }
});

it('docs/list-queries.md shows the actual answers', async () => {
  const [, query = ''] = /<!-- example (.*) -->/.exec(text) ?? [];
  const [shown = ''] = blocks('example');
  expect(await admin.rest('GET', `/organizations?${encoded(query)}`).expect(200)).toEqual(JSON.parse(shown));
});
