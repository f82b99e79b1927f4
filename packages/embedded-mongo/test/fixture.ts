import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { onTestFinished } from 'vitest';
import { type EmbeddedMongo, type EmbeddedMongoEvent, type EmbeddedMongoOptions, startEmbeddedMongo } from '../src/index.js';
import { until } from './processes.js';

/** A directory that is removed when the test ends. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'embedded-mongo-'));
  // an engine whose parent was killed may still write for a moment, so the first attempt can find new files
  onTestFinished(async () => await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  return directory;
}

export interface ObservedMongo extends EmbeddedMongo {
  events: EmbeddedMongoEvent[];
  /** The engine's process since the latest start. */
  pid(): number;
  /** Waits for the start with that number, counted from 1. */
  started(count: number): Promise<void>;
}

/** An engine that is stopped when the test ends. */
export async function startObserved(options: EmbeddedMongoOptions): Promise<ObservedMongo> {
  const events: EmbeddedMongoEvent[] = [];
  const starts = () => events.filter((event) => event.type === 'started');
  const mongo = await startEmbeddedMongo({ ...options, onEvent: (event) => events.push(event) });
  onTestFinished(() => mongo.stop());
  return {
    ...mongo,
    events,
    pid: () => starts().at(-1)?.pid ?? 0,
    started: (count) => until(() => starts().length >= count),
  };
}

/** A driver's client that is closed when the test ends. */
export function connect(uri: string): MongoClient {
  const client = new MongoClient(uri);
  onTestFinished(() => client.close());
  return client;
}

/** The path of the socket in a URI. */
export function socketOf(uri: string): string {
  return decodeURIComponent(/^mongodb:\/\/([^/]+)/.exec(uri)?.[1] ?? '');
}
