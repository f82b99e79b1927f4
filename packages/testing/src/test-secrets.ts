/** The secrets of all servers of tests; a production server takes them too. */
export const TEST_SECRETS = {
  authEncSecret: 'what encrypts the tokens of tests',
  authSignSecret: 'what signs all the tokens of tests',
};
