import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { attach, type RunningEngine } from './attach.js';
import { type EngineLocation, startEngineProcess } from './engine-process.js';
import { EmbeddedMongoError, engineFailed } from './errors.js';

/** An event of the engine, for a log. */
export type EmbeddedMongoEvent =
  /** It answers: in a process of ours (`owner`), or in that of another on the same directory (`attached`). */
  | { type: 'started'; role: 'owner' | 'attached'; pid: number }
  /** It ended or did not start, and is restarted after the wait. */
  | { type: 'restarting'; error: EmbeddedMongoError; waitMs: number }
  /** It will not be started again. */
  | { type: 'gave-up'; error: EmbeddedMongoError };

export interface RestartPolicy {
  /** Restarts allowed in a row; the next failure is final. */
  limit: number;
  /** The wait before the first restart; it doubles each time. */
  firstWaitMs: number;
  longestWaitMs: number;
  /** An engine that ran this long resets the count of failures. */
  stableAfterMs: number;
}

export interface SupervisorOptions {
  location: EngineLocation;
  restarts: RestartPolicy;
  /** How long to wait for a directory whose holder does not answer: it may be starting. */
  inUseWaitMs: number;
  onEvent: (event: EmbeddedMongoEvent) => void;
}

export interface Supervisor {
  /** Settles with the reason when the engine is given up; never rejects. */
  failed: Promise<EmbeddedMongoError>;
  stop(): Promise<void>;
}

/** While another process starts its engine, how often to check whether it answers, and to try the lock again. */
const ASK_AGAIN_MS = 50;
const ASK_BEFORE_LOCK = 10;

/**
 * Keeps an engine running on a directory until stopped. All processes that use the directory do the same: attach to the
 * engine that answers on its socket, or start one. When it ends, each does so again, and the engine's lock picks one.
 *
 * @throws EmbeddedMongoError when the engine does not start the first time
 */
export async function superviseEngine({ location, restarts, inUseWaitMs, onEvent }: SupervisorOptions): Promise<Supervisor> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopRequested = once(signal, 'abort').then(() => undefined);

  async function join(): Promise<RunningEngine> {
    const deadline = Date.now() + inUseWaitMs;
    for (let asked = 0; ; asked++) {
      const running = await attach(location.socketPath, location.directory);
      if (running) return running;
      try {
        if (asked % ASK_BEFORE_LOCK === 0) return await startEngineProcess(location);
      } catch (error) {
        if (!isInUse(error) || Date.now() > deadline) throw error;
      }
      await delay(ASK_AGAIN_MS, undefined, { signal });
    }
  }

  /** Resolves when stopped; rejects when given up. */
  async function keepRunning(first: RunningEngine): Promise<void> {
    let engine: RunningEngine | undefined = first;
    let failures = 0;
    while (!signal.aborted) {
      try {
        engine ??= await join();
        onEvent({ type: 'started', role: engine.role, pid: engine.pid });
        const startedAt = Date.now();
        const reason: Error | undefined = await Promise.race([engine.ended, stopRequested]);
        if (signal.aborted) break;
        engine = undefined;
        if (Date.now() - startedAt >= restarts.stableAfterMs) failures = 0;
        // An attached engine ends with its owner: not a failure, but our turn to start one.
        if (reason) throw reason;
      } catch (thrown) {
        if (signal.aborted) break;
        const error = thrown instanceof EmbeddedMongoError ? thrown : engineFailed(String(thrown), thrown);
        failures += 1;
        if (failures > restarts.limit) throw error;
        const waitMs = Math.min(restarts.firstWaitMs * 2 ** (failures - 1), restarts.longestWaitMs);
        onEvent({ type: 'restarting', error, waitMs });
        await delay(waitMs, undefined, { signal }).catch(() => {});
      }
    }
    await engine?.release();
  }

  const running = keepRunning(await join());
  const failed = new Promise<EmbeddedMongoError>((resolve) => {
    running.catch((error: EmbeddedMongoError) => {
      onEvent({ type: 'gave-up', error });
      resolve(error);
    });
  });

  return {
    failed,
    async stop() {
      stopping.abort();
      await running.catch(() => {});
    },
  };
}

function isInUse(error: unknown): boolean {
  return error instanceof EmbeddedMongoError && error.code === 'directory-in-use';
}
