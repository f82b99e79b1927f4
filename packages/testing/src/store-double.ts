/** Only the store proxy, for tests below the server: the whole package loads the server, which takes seconds. */
export { PLAYED_SERVERS, refusal, type PlayedServer } from './played-servers.js';
export { isCommand, isOfLog, isWrite, type StoreCommand } from './store-faults.js';
export { startStoreProxy, type StoreProxy, type StoreProxyOptions } from './store-proxy.js';
