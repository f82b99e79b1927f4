/** The address of a database of the engine of the test run: one a test file. */
export function databaseOf(name: string): string {
  const engine = process.env['TANDEM_TEST_MONGODB_URI'] ?? '';
  return engine.replace(/^(mongodb:\/\/[^/]+)\/[^?]*/, `$1/${name}_${process.pid}`);
}
