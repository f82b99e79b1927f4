import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startOidcProvider, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';

const text = readFileSync(new URL('../docs/authentication.md', import.meta.url), 'utf8');

/** The commands behind the markers of a name, and what they print, in order. */
function transcript(name: string): { commands: string; printed: string } {
  const parts = text.split(`<!-- run ${name} -->`).slice(1);
  const blocks = parts.map((part) => [...part.matchAll(/```\w*\n([\s\S]*?)```/g)].map(([, block]) => block ?? ''));
  return { commands: blocks.map(([first]) => first).join('\n'), printed: blocks.map(([, second]) => second).join('') };
}

async function run(commands: string, cwd: string): Promise<string> {
  const child = spawn('bash', ['-euc', commands], { cwd, stdio: ['ignore', 'pipe', 'inherit'], timeout: 25_000 });
  let out = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  await once(child, 'close');
  return out;
}

/** Begins every transcript: the functions that the commands use. */
const functions = transcript('plain').commands.split('\n\n')[0] ?? '';

it.each([
  ['plain', false],
  ['mfa', true],
])('docs/authentication.md prints what it says, %s', async (name, mfaEnabled) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-authentication-'));
  const mail = { url: 'outbox:', from: 'Tandem <no-reply@example.org>', linksUrl: undefined };
  const app = await startTestServer({ mfaEnabled, dataDir: path.join(folder, '.data'), mail });
  try {
    const { commands, printed } = transcript(name);
    const script = `${functions}\n${commands}`.replaceAll('http://localhost:3000', app.url);
    expect(await run(script, folder)).toBe(printed);
  } finally {
    await app.close();
    await rm(folder, { recursive: true });
  }
});

it('docs/authentication.md sends a browser to the provider that it says', async () => {
  await using company = await startOidcProvider({ names: ['company'] });
  await using app = await startTestServer({
    providers: { company: company.settings },
    redirectUrls: ['https://app.example.org/signed-in'],
  });
  const { commands, printed } = transcript('provider');
  expect(await run(commands.replaceAll('http://localhost:3000', app.url), tmpdir())).toBe(
    printed.replaceAll('https://login.example.org', company.settings.issuer ?? ''),
  );
});
