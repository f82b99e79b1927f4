/** The secrets of all test servers; also valid in production. */
export const TEST_SECRETS = {
  authEncSecret: 'what encrypts the tokens of tests',
  authSignSecret: 'what signs all the tokens of tests',
};
