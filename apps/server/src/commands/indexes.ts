import { Command } from 'commander';
import { withDatabase } from './with-database.js';

/** `tandem indexes`: creates missing indexes, completes what search needs, and shows each index with the query it serves. */
export function createIndexesCommand(): Command {
  return new Command('indexes')
    .description('Create missing indexes and list all of them with the queries they serve')
    .option('--check', 'create none; fail when one is missing')
    .action(({ check = false }: { check?: boolean }) =>
      withDatabase(async ({ storage }) => {
        if (!check) {
          await storage.ensureIndexes();
          for (const [collection, count] of await storage.fillSearch())
            if (count > 0) console.log(`completed ${count} records of ${collection}, which no search found`);
        }
        for (const { collection, declared, extra } of await storage.indexReport()) {
          console.log(collection);
          for (const { index, exists, serves } of declared)
            console.log(`  ${exists ? 'ok     ' : 'MISSING'} ${index}: ${serves}`);
          for (const index of extra) console.log(`  unknown ${index}: not declared; drop it unless you need it`);
          if (declared.some(({ exists }) => !exists)) process.exitCode = 1;
        }
      }),
    );
}
