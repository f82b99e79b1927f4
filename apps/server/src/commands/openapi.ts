import { Command } from 'commander';
import { describeApi } from '../documents.js';
import { withDatabase } from './with-database.js';

/** `tandem openapi`: prints the document of `/openapi.json` to standard output. */
export function createOpenApiCommand(): Command {
  return new Command('openapi').description('Print the OpenAPI document').action(() =>
    withDatabase(async ({ config, tandem }) => {
      console.log(JSON.stringify(await describeApi(tandem, config), undefined, 2));
    }),
  );
}
