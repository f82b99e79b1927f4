import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { fixture, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';

const app = fixture(startTestServer);

async function byRedocly(text: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: text, config });
  return problems.filter(({ severity }) => severity === 'error').map(({ ruleId, message }) => `${ruleId}: ${message}`);
}

async function bySpectral(text: string): Promise<string[]> {
  const linter = new spectral.Spectral();
  // its own types do not agree on what a rule is
  linter.setRuleset(rulesets.oas as unknown as RulesetDefinition);
  const problems = await linter.run(JSON.parse(text) as Record<string, unknown>);
  return problems.map(({ code, message, path }) => `${code}: ${message} (${path.join('/')})`);
}

it.each([
  ['Redocly', byRedocly],
  ['Spectral', bySpectral],
])('%s finds nothing wrong with the OpenAPI document', async (_, lint) => {
  const text = await (await fetch(`${app.url}/openapi.json`)).text();
  expect(await lint(text)).toEqual([]);
  const withTwins = text.replace('"operationId":"products.get"', '"operationId":"products.list"');
  expect((await lint(withTwins)).join()).toContain('operation-operationId-unique');
});
