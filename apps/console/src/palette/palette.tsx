import { queryKey } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useState } from 'react';
import { placesOf } from '../places.js';
import { useAct } from '../records/acts.js';
import { useCall, type Row } from '../records/call.js';
import { useDefinitions } from '../records/definitions.js';
import { placeOf } from '../records/kinds.js';
import { useCreateAct } from '../records/offered.js';
import { WithDefinitions } from '../records/with-definitions.js';
import { inWords, oneOf, titleOf } from '../records/words.js';
import type { Me } from '../session/me.js';
import { Dialog } from '../ui/dialog.js';
import { FoundList, type FoundEntry } from '../ui/found-list.js';
import { wordsOf } from '../ui/words.js';

interface PaletteProps {
  me: Me;
  onClose(): void;
}

/** Finds pages, records and actions by what is typed; arrows go through them, Enter opens one. */
export function Palette(props: PaletteProps) {
  return (
    <Dialog title="Find anything" onClose={props.onClose}>
      <WithDefinitions>
        <Finder {...props} />
      </WithDefinitions>
    </Dialog>
  );
}

/** Records of a kind, and kinds, that are asked at once. */
const [OF_KIND, KINDS] = [3, 12];

function Finder({ me, onClose }: PaletteProps) {
  const definitions = useDefinitions();
  const act = useAct();
  const createAct = useCreateAct();
  const go = useNavigate();
  const call = useCall();
  const [typed, setTyped] = useState('');
  const words = useDeferredValue(wordsOf(typed));
  const searched = definitions.kinds.flatMap((kind) => {
    const place = placeOf(kind, definitions, me);
    return place?.list.isSearched ? [{ kind, ...place }] : [];
  });
  const { data: records = [] } = useQuery({
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
      return answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    },
  });
  const fits = (text: string) =>
    typed
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.toLowerCase().includes(word));
  const open = (to: string) => () => {
    onClose();
    void go({ to });
  };
  const found: FoundEntry[] = [
    ...placesOf(me.isAdmin)
      .filter(({ name }) => fits(name))
      .map(({ path, name }) => ({ key: path, text: name, hint: 'Page', run: open(path) })),
    ...records.map(({ kind, row }) => ({
      key: String(row['id']),
      text: titleOf(row),
      hint: inWords(oneOf(kind.name)),
      run: open(`/${kind.name}/${String(row['id'])}`),
    })),
    ...definitions.kinds.flatMap((kind): FoundEntry[] => {
      const create = createAct(kind);
      if (!create || !fits(create.text)) return [];
      const onDone = (made: unknown) => {
        onClose();
        create.onDone?.(made);
      };
      return [{ key: create.operation.id, text: create.text, hint: 'Action', run: () => act({ ...create, onDone }) }];
    }),
  ].slice(0, 40);

  return (
    <div className="palette">
      <FoundList
        aria-label="Find pages, records and actions"
        listLabel="Found"
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog was opened to type here
        autoFocus
        value={typed}
        onType={setTyped}
        entries={found}
      />
      {found.length === 0 && <p className="hint">Nothing found.</p>}
    </div>
  );
}
