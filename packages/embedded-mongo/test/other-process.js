import process from 'node:process';
import { createInterface } from 'node:readline';

// A process that shares the engine: `other-process.js <module> <data directory>`. It prints each event as a line of
// JSON, and stops when told to on its standard input.

const [module = '', dir = ''] = process.argv.slice(2);
/** @type {typeof import('../src/index.js')} */
const { startEmbeddedMongo } = await import(module);

/** @param {object} line */
function print(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

try {
  const mongo = await startEmbeddedMongo({ dir, onEvent: print });
  createInterface({ input: process.stdin }).once('line', () => void mongo.stop().then(() => process.exit(0)));
} catch (error) {
  print({ type: 'refused', message: String(error) });
  process.exit(1);
}
