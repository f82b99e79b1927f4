import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startOidcProvider, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { runCommands, transcriptOf } from './transcripts.js';

const text = readFileSync(new URL('../docs/authentication.md', import.meta.url), 'utf8');

const transcript = (name: string) => transcriptOf(text, name);

/** Starts every transcript: the functions that the commands use. */
const functions = transcript('plain').commands.split('\n\n')[0] ?? '';

it.each([
  ['plain', false],
  ['mfa', true],
])('docs/authentication.md prints the documented output, %s', async (name, mfaEnabled) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-authentication-'));
  const mail = { url: 'outbox:', from: 'Tandem <no-reply@example.org>', linksUrl: undefined };
  const app = await startTestServer({ mfaEnabled, dataDir: path.join(folder, '.data'), mail });
  try {
    const { commands, printed } = transcript(name);
    const script = `${functions}\n${commands}`.replaceAll('http://localhost:3000', app.url);
    expect(await runCommands(script, folder)).toBe(printed);
  } finally {
    await app.close();
    await rm(folder, { recursive: true });
  }
});

it('docs/authentication.md sends a browser to the documented provider', async () => {
  await using company = await startOidcProvider({ names: ['company'] });
  await using app = await startTestServer({
    providers: { company: company.settings },
    redirectUrls: ['https://app.example.org/signed-in'],
  });
  const { commands, printed } = transcript('provider');
  expect(await runCommands(commands.replaceAll('http://localhost:3000', app.url), tmpdir())).toBe(
    printed.replaceAll('https://login.example.org', company.settings.issuer ?? ''),
  );
});
