import { writeSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { openFilesDriver } from '@tandem/drivers/files';
import { openMailDriver } from '@tandem/drivers/mail';
import { createTandem } from '@tandem/services';
import { defineModel, openStorage } from '@tandem/storage';

/**
 * Erases whom is due, and kills itself at the first step that is not among those given: after a write to the store, which is before
 * the next one, or before or after the removal of a file. Prints its steps. Runs over the build: `node dying-eraser.js <uri> <folder>`;
 * it begins when it has read `{ ahead, passed }`, the milliseconds that its clock is ahead and the names of steps.
 */
const [uri = '', folder = ''] = process.argv.slice(2);
const WRITES = new Set(['insert', 'update', 'delete', 'findAndModify', 'bulkWrite']);
/** Who appends to the log of events, or has the turn of a job, does so between any two others. */
const BESIDE = new Set(['eventLog', 'tandemJobs']);
/** The rounds of an erasure begin within so much time of each other. */
const ROUND_MS = 11 * 60_000;

/** @type {Set<string> | undefined} */
let passed;
/** @param {string} name */
function step(name) {
  if (!passed) return;
  writeSync(1, `${name}\n`);
  if (!passed.has(name)) process.kill(process.pid, 'SIGKILL');
}

const { rm } = fs;
fs.rm = async (file, options) => {
  const name = `a removal in ${path.relative(folder, String(file)).split(path.sep, 1)[0]}`;
  step(`before ${name}`);
  await rm(file, options);
  step(`after ${name}`);
};
// also for those that have imported it
syncBuiltinESMExports();

let ahead = 0;
const clock = { now: () => new Date(Date.now() + ahead), inStore: () => ({ $add: ['$$NOW', ahead] }) };
const storage = await openStorage({ uri: `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`, clock });
const client = storage.model(defineModel('nothing', { fields: {}, indexes: [] })).db.getClient();
const writing = new Map();
client.on('commandStarted', ({ requestId, commandName, command }) => {
  if (WRITES.has(commandName) && !BESIDE.has(command[commandName]))
    writing.set(requestId, `${command[commandName]}.${commandName}`);
});
client.on('commandSucceeded', ({ requestId }) => {
  if (writing.has(requestId)) step(writing.get(requestId));
});
const files = await openFilesDriver('disk:', {
  dir: path.join(folder, 'files'),
  secrets: ['s'.repeat(32)],
  publicUrl: 'http://localhost',
  now: () => clock.now(),
});
const tandem = await createTandem({
  storage,
  authSecrets: { authEncSecret: 'what encrypts the tokens of tests', authSignSecret: 'what signs all the tokens of tests' },
  mail: { driver: openMailDriver('outbox:', { outboxDir: path.join(folder, 'outbox') }), linksUrl: 'http://localhost' },
  files: { driver: files },
  erasureDelay: '0s',
  erasedMessages: 'blank',
});
const told = /** @type {{ ahead: number, passed: string[] }} */ (await json(process.stdin));
ahead = told.ahead;
passed = new Set(told.passed);
for (let round = 0; round < 3; round++) {
  await tandem.runJobs();
  ahead += ROUND_MS;
}
process.exit();
