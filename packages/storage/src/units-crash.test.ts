import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { complete, nothing, openUnitsFixture } from '../test/units-fixture.js';

const { other, clock, uri, clear, state, marking, sweepLater, ...fixture } = await openUnitsFixture();
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(clear);

describe('a process killed between two steps', () => {
  it.each(['finish', 'undo'] as const)('leaves what the next sweep will %s', async (recovery) => {
    const script = fileURLToPath(new URL('../test/dying-process.js', import.meta.url));
    const killed = await promisify(execFile)(process.execPath, [script, uri, recovery]).catch((error: unknown) => error);
    expect(killed).toMatchObject({ signal: 'SIGKILL' });
    expect(await state()).toEqual({ marks: ['k-1'], intents: 1 });
    other.defineUnit({ ...marking(recovery), name: `dying ${recovery}` });
    clock.advance(Date.now() - clock.now().getTime());
    await sweepLater();
    expect(await state()).toEqual(recovery === 'finish' ? complete : nothing);
  });
});
