export { readConfig, type Config } from './config.js';
export { describeApi } from './documents.js';
export { createServer, type CodeConfiguration, type RunningServer, type Server } from './create-server.js';
export { OAUTH_VARIABLES } from './oauth-env.js';
export { AUTH_MODE_VARIABLES, VARIABLES } from './env.js';
export { EnvironmentError } from './read-env.js';
export { createLog } from './logging.js';
