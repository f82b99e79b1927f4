export { createPasskey, type Credential, type Deviation, type SoftPasskey } from './authenticator.js';
export { createTotpApp } from './totp-app.js';
export { createBrowser, type Browser } from './browser.js';
export { FACES, type Caller, type Credentials, type Face, type Outcome, type RestRequest } from './caller.js';
export {
  describedOperations,
  placesIn,
  replacePlace,
  resolveReference,
  resolveSchema,
  type DescribedOperation,
  type JsonSchema,
  type Place,
} from './described-operations.js';
export { fixture } from './fixture.js';
export { makeFolder, type Folder } from './folder.js';
export { holdTime } from './held-time.js';
export { databaseOf, storeCopies } from './databases.js';
export { createContract, type Contract, type RestAnswer } from './contract.js';
export { expectListConvention, type ListUnderTest } from './list-convention.js';
export { startOAuth2Server, type OAuth2Account, type OAuth2Server } from './oauth2-server.js';
export { APPLE_ORIGIN, newAppleAccount, startAppleProvider, type AppleAccount, type AppleProvider } from './apple-provider.js';
export { newGitHubAccount, startGitHubServer, type GitHubAccount, type GitHubServer } from './github-server.js';
export {
  newMicrosoftAccount,
  startMicrosoftProvider,
  type MicrosoftAccount,
  type MicrosoftProvider,
} from './microsoft-provider.js';
export { newOidcAccount, startOidcProvider, type OidcProvider, type OidcProviderOptions } from './oidc-provider.js';
export { type OidcAccount, type OidcChoice, type Tampering } from './oidc-server.js';
export {
  RETURN_URL,
  redeem,
  startOf,
  throughProvider,
  visitProvider,
  type ProviderSession,
  type ProviderVisit,
} from './provider-visits.js';
export { createTestClock, type TestClock } from './test-clock.js';
export { startMailServer, type MailServer, type ReceivedMail } from './mail-server.js';
export * from './outcomes.js';
export { CHROMIUM, HAS_CHROMIUM, HAS_REDIS } from './programs.js';
export { freePort, startRedis, type RedisServer } from './redis-server.js';
export { startS3Server, type S3Object, type S3Server } from './s3-server.js';
export { answerListeners, sendRaw, sendRequest, type RawAnswer, type RawRequest, type TextAnswer } from './raw-request.js';
export { openStream, refusalOf, type Frame, type TestStream } from './test-stream.js';
export { NEW_PASSWORD, PASSWORD, cookiesOf, newEmail, startTestServer, type Person, type TestServer } from './test-server.js';
export { isCutOff, startServerProcess, type LogLine, type ServerProcess } from './server-process.js';
export * from './store-double.js';
export { TEST_SECRETS } from './test-secrets.js';
