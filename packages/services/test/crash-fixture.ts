import { setTimeout } from 'node:timers/promises';
import {
  databaseOf,
  startServerProcess,
  startStoreProxy,
  startTestServer,
  type RestAnswer,
  type RestRequest,
  type ServerProcess,
  type StoreCommand,
  type TestServer,
} from '@tandem/testing';
import { identityModel } from '../src/identities/identity.model.js';
import { queuedMailModel } from '../src/mail/mail.model.js';

/** A request whose process dies, and what is true after the restart. */
export interface CrashFlow<Somebody> {
  /** Makes whoever asks, by the instance that stays. */
  prepare(): Promise<Somebody>;
  request(server: ServerProcess, somebody: NoInfer<Somebody>): RestRequest;
  /** @param answer what came before the process died; undefined when nothing did */
  check(server: ServerProcess, somebody: NoInfer<Somebody>, answer: RestAnswer | undefined): Promise<void>;
}

type CutFlow<Somebody> = Pick<CrashFlow<Somebody>, 'prepare' | 'request'>;

/** A request that was cut off after these writes, as `collection.command`. */
interface Cut<Somebody> {
  somebody: Somebody;
  answering: Promise<RestAnswer | undefined>;
  passed: readonly string[];
}

/** Of somebody whose request was cut off: what it has written, and whether that was all. */
export interface LeftBehind<Somebody> {
  somebody: Somebody;
  passed: readonly string[];
  isAnswered: boolean;
}

/** A server in a process of its own, to be killed, and an instance in this one that stays; both over one database. */
export interface CrashFixture extends AsyncDisposable {
  /** Its mails come by `home.mail` too. */
  home: TestServer;
  /**
   * Runs the request for one person after another, each of whom stops after one write more than the one before, until one is done; kills
   * the process, which has sent no mail by then; starts it again and checks them all.
   * @returns the writes of the request, as `collection.command`
   */
  dieAfterEachWrite<Somebody>(flow: CrashFlow<Somebody>): Promise<string[]>;
  /**
   * The same for each of these requests, so many times after each write, and kills the process once; checks nothing: what it has left
   * is there when it has started again.
   * @returns for each request everybody, those last whose request was done
   */
  leaveAfterEachWrite<Somebody>(flows: readonly CutFlow<Somebody>[], times: number): Promise<LeftBehind<Somebody>[][]>;
  /**
   * Runs a request that sends one mail, and kills the process after each write of the sending: as often as there are writes, since a
   * process goes on with its queue.
   * @returns the writes of the sending, as `collection.command`
   */
  dieWhileSending<Somebody>(flow: CrashFlow<Somebody>): Promise<string[]>;
}

/** How a worker takes a mail, and what it writes until that is sent. */
const TAKING = 'mails.findAndModify';
const SENDING = new Set([TAKING, 'onetimeTokens.update', 'mails.delete']);

/** Enough connections that writes which are held do not hold up others. */
const MONGODB_POOL_SIZE = '64';

/** Lets so many writes pass, and holds all that follow. */
function createGate() {
  let left = Number.POSITIVE_INFINITY;
  let part: 'all' | 'request' | 'sending' = 'all';
  let passed: string[] = [];
  let reach = (): void => {};

  function mayPass({ collection, command }: StoreCommand): boolean {
    const name = `${collection}.${command}`;
    if (part === 'request' && name === TAKING) return false;
    if (part === 'sending' && !SENDING.has(name)) return true;
    if (left === 0) {
      reach();
      return false;
    }
    left -= 1;
    passed.push(name);
    return true;
  }

  function open(writes: number, of: typeof part): { passed: readonly string[]; reached: Promise<void> } {
    left = writes;
    part = of;
    passed = [];
    const reached = new Promise<void>((resolve) => (reach = resolve));
    return { passed, reached };
  }

  return {
    mayPass,
    /**
     * Lets writes of a request pass, and then none, and no mail be taken; or of the sending of its mail, and all others.
     * @returns what passes, and when one more has come
     */
    open,
    close: () => void open(0, 'all'),
    openWide: () => void open(Number.POSITIVE_INFINITY, 'all'),
  };
}

/** What a request was answered, if it was: the process may die meanwhile, and a server that waited too long for its store has done nothing it knows of. */
async function answerOf(request: RestRequest): Promise<RestAnswer | undefined> {
  try {
    const answer = await request;
    return answer.status < 500 ? answer : undefined;
  } catch {
    return undefined;
  }
}

/** @param name of the database: one a test file. @param environment of the process that dies; both share a `DATA_DIR` */
export async function openCrashFixture(name: string, environment: Record<string, string> = {}): Promise<CrashFixture> {
  const { DATA_DIR: dataDir } = environment;
  const mongodbUri = databaseOf(`crash_${name}`);
  const gate = createGate();
  const home = await startTestServer({ mongodbUri, ...(dataDir !== undefined && { dataDir }) });
  const proxy = await startStoreProxy(mongodbUri, { mayPass: gate.mayPass });
  const store = { MONGODB_URI: proxy.uri, MONGODB_POOL_SIZE };
  const start = () => startServerProcess({ ...store, MAIL_URL: home.mail.url, ...environment });
  let server = await start();

  async function restart(): Promise<void> {
    await proxy.settle();
    await server.kill();
    gate.openWide();
    // whoever tried to send a mail holds it for a minute: this is the minute
    const { collection } = home.storage.model(queuedMailModel);
    await collection.updateMany({ owner: { $ne: null } }, { $set: { dueAt: new Date(0) } });
    // and a mail that was not queued is left alone for half a minute
    const identities = home.storage.model(identityModel).collection;
    await identities.updateMany({ outboxAt: { $gt: new Date(1) } }, { $set: { outboxAt: new Date(1) } });
    server = await start();
  }

  /** Waits until nothing is left to send: what comes after it is of the next request. */
  async function settle(): Promise<void> {
    const { collection } = home.storage.model(queuedMailModel);
    while ((await collection.countDocuments()) > 0) await setTimeout(10);
    await fetch(`${server.url}/health/ready`);
  }

  async function check<Somebody>(flow: CrashFlow<Somebody>, { somebody, answering, passed }: Cut<Somebody>): Promise<void> {
    const answer = await answering;
    try {
      await flow.check(server, somebody, answer);
    } catch (error) {
      const writes = passed.join(', ') || 'no write';
      throw new Error(`killed after ${writes}; answered ${answer?.status ?? 'nothing'}: ${String(error)}`, { cause: error });
    }
  }

  /** Cuts requests off after each of their writes, the same number of times after each. */
  async function cutAfterEachWrite<Somebody>({ prepare, request }: CutFlow<Somebody>, times: number): Promise<Cut<Somebody>[]> {
    const all: Cut<Somebody>[] = [];
    for (let isDone = false; !isDone;) {
      const writes = all.length / times;
      for (let time = 0; time < times; time++) {
        const somebody = await prepare();
        const { passed, reached } = gate.open(writes, 'request');
        const answering = answerOf(request(server, somebody));
        const isAnswered = await Promise.race([reached.then(() => false), answering.then(() => true)]);
        // what is written without being waited for has come by when another request has been answered
        await fetch(`${server.url}/health/ready`);
        gate.close();
        all.push({ somebody, answering, passed });
        isDone = isAnswered && passed.length < writes;
      }
    }
    return all;
  }

  async function lastWrites<Somebody>(all: readonly Cut<Somebody>[]): Promise<string[]> {
    const last = all.at(-1);
    const answer = await last?.answering;
    if (!answer || answer.status >= 300) throw new Error(`not done, with all its writes: ${JSON.stringify(answer?.body)}`);
    return [...(last?.passed ?? [])];
  }

  return {
    home,

    dieAfterEachWrite: async (flow) => {
      const all = await cutAfterEachWrite(flow, 1);
      await restart();
      for (const one of all) await check(flow, one);
      await settle();
      return lastWrites(all);
    },

    async leaveAfterEachWrite<Somebody>(flows: readonly CutFlow<Somebody>[], times: number) {
      const left: LeftBehind<Somebody>[][] = [];
      for (const flow of flows) {
        const all = await cutAfterEachWrite(flow, times);
        await lastWrites(all);
        left.push(all.map(({ somebody, passed }, at) => ({ somebody, passed, isAnswered: at >= all.length - times })));
      }
      await restart();
      return left;
    },

    async dieWhileSending(flow) {
      for (let writes = 1; ; writes++) {
        const somebody = await flow.prepare();
        const { passed, reached } = gate.open(writes, 'sending');
        const answering = answerOf(flow.request(server, somebody));
        await reached;
        await restart();
        await check(flow, { somebody, answering, passed });
        await settle();
        if (passed.includes('mails.delete')) return [...passed];
      }
    },

    async [Symbol.asyncDispose]() {
      await server.kill();
      await proxy.close();
      await home.close();
    },
  };
}
