import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { runCommands, transcriptOf } from './transcripts.js';

const text = readFileSync(new URL('../docs/chat.md', import.meta.url), 'utf8');

it('docs/chat.md prints the documented output', { timeout: 90_000 }, async () => {
  await using app = await startTestServer();
  const { commands, printed } = transcriptOf(text, 'chat');
  expect(await runCommands(commands.replaceAll('http://localhost:3000', app.url), tmpdir())).toBe(printed);
});
