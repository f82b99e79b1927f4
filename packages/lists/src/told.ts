import type { Extension } from './extension.js';
import type { Fitting } from './fitting.js';
import type { DeclaredList, ListSource } from './lists.js';
import type { Completion } from './related.js';

/** How stored records of a kind are shown where no list shows them: in events. */
export type ToldSource<R, Row> = Pick<ListSource<R, Row>, 'show' | 'complete'>;

interface Told {
  list: DeclaredList<object>;
  source: ToldSource<object, object>;
}

/** Creates the register of the kinds of records of which events tell (decisions E1). */
export function createToldKinds(fit: Fitting, { list: extend }: Extension) {
  const kinds = new Map<string, Told>();
  return {
    /** Says how events show the records of a kind: as rows of this list. */
    tell<R extends object, Row extends object>(kind: string, list: DeclaredList<Row>, source: ToldSource<R, Row>): void {
      kinds.set(kind, { list, source });
    },

    /** The kinds of which events tell. */
    kinds: (): string[] => [...kinds.keys()],

    /**
     * Shows stored records, completed with one round of queries.
     * @returns in the same order; undefined for those that do not fit their schema (decisions H20)
     */
    async told(kind: string, records: readonly object[]): Promise<(object | undefined)[]> {
      const { list, source } = kinds.get(kind) as Told;
      const { resource, row } = extend(list);
      const rows = records.map((record) => fit(resource.name, row, record, source.show));
      const shown = rows.filter((one) => one !== undefined);
      const completions = new Set(Object.values(source.complete ?? {}) as Completion<object>[]);
      if (shown.length > 0) await Promise.all([...completions].map((run) => run(shown)));
      return rows;
    },
  };
}
