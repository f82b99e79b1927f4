export { FACES, type Caller, type Credentials, type Face, type Outcome, type RestRequest } from './caller.js';
export type { RestAnswer } from './contract.js';
export { createTestClock, type TestClock } from './test-clock.js';
export { startMailServer, type MailServer, type ReceivedMail } from './mail-server.js';
export { startRedis, type RedisServer } from './redis-server.js';
export { sendRaw, type RawAnswer, type RawRequest } from './raw-request.js';
export { PASSWORD, cookiesOf, startTestServer, type Person, type TestServer } from './test-server.js';
