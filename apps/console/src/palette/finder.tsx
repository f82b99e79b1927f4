import { queryKey } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue } from 'react';
import { placesOf } from '../places.js';
import { useAct } from '../records/acts.js';
import { useCall, type Row } from '../records/call.js';
import { useDefinitions } from '../records/definitions.js';
import { placeOf } from '../records/kinds.js';
import { useCreateAct } from '../records/offered.js';
import { WithDefinitions } from '../records/with-definitions.js';
import { inWords, oneOf, titleOf } from '../records/words.js';
import type { FoundEntry } from '../ui/found-list.js';
import { wordsOf } from '../ui/words.js';
import { FinderInput, type FinderProps } from './palette.js';
import { t, term } from '../texts/texts.js';

/** Finds pages, records and actions by what is typed. */
export function Finder(props: FinderProps) {
  return (
    <WithDefinitions waiting={<FinderInput {...props} entries={[]} />}>
      <Found {...props} />
    </WithDefinitions>
  );
}

/** Records of a kind, and kinds, that are asked at once. */
const [OF_KIND, KINDS] = [3, 12];

function Found(props: FinderProps) {
  const { me, typed, onClose } = props;
  const definitions = useDefinitions();
  const act = useAct();
  const createAct = useCreateAct();
  const go = useNavigate();
  const call = useCall();
  const words = useDeferredValue(wordsOf(typed));
  const searched = definitions.kinds.flatMap((kind) => {
    const place = placeOf(kind, definitions, me);
    return place?.list.isSearched ? [{ kind, ...place }] : [];
  });
  const found = useQuery({
    queryKey: [...queryKey('palette'), words],
    enabled: words !== '',
    queryFn: async () => {
      const answers = await Promise.allSettled(
        searched.slice(0, KINDS).map(async ({ kind, list, input }) => {
          const answer = await call(list.operation, { ...input, $search: words, $top: OF_KIND });
          return (answer as { value: Row[] }).value.map((row) => ({
            kind,
            row: 'id' in row ? row : ((row[oneOf(kind.name)] as Row | undefined) ?? row),
          }));
        }),
      );
      // of one kind they may be refused
      const [first] = answers;
      if (first?.status === 'rejected' && answers.every(({ status }) => status === 'rejected')) throw first.reason;
      return answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    },
  });
  // not those of what was typed before
  const records = words === wordsOf(typed) ? (found.data ?? []) : [];
  const fits = (text: string) =>
    typed
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.toLowerCase().includes(word));
  const open = (to: string) => () => {
    onClose();
    void go({ to });
  };
  const entries: FoundEntry[] = [
    ...placesOf(me.isAdmin)
      .filter(({ name }) => fits(name))
      .map(({ path, name }) => ({ key: path, text: name, hint: t('records.palette.page'), run: open(path) })),
    ...definitions.kinds.flatMap((kind): FoundEntry[] => {
      const create = createAct(kind);
      if (!create || !fits(create.text)) return [];
      const onDone = (made: unknown) => {
        onClose();
        create.onDone?.(made);
      };
      return [
        { key: create.operation.id, text: create.text, hint: t('records.palette.action'), run: () => act({ ...create, onDone }) },
      ];
    }),
    // at the end: they come later, and nothing is to move when they do
    ...records.map(({ kind, row }) => ({
      key: String(row['id']),
      text: titleOf(row),
      hint: term('kinds', kind.name) ?? inWords(oneOf(kind.name)),
      run: open(`/${kind.name}/${String(row['id'])}`),
    })),
  ].slice(0, 40);

  return (
    <div className="palette">
      <FinderInput {...props} entries={entries} />
      {entries.length === 0 && !found.isFetching && <p className="hint">{t('records.palette.none')}</p>}
    </div>
  );
}
