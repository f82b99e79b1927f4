import { queryKey } from '@tandem/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useRef, useState } from 'react';
import { useMe } from '../session/me.js';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { FoundList } from '../ui/found-list.js';
import { Icon } from '../ui/icons.js';
import { wordsOf } from '../ui/words.js';
import { useCall, type Row } from './call.js';
import { isId } from '../ids.js';
import { useDefinitions, type Kind } from './definitions.js';
import { placeOf } from './kinds.js';
import { oneOf, oneText, shortId, titleOf } from './words.js';
import { t } from '../texts/texts.js';

/** Proposals shown at once. */
const SHOWN = 8;
/** Those asked for where the page itself finds what was typed: the most that a list gives. */
const MOST = 100;

/** Records of a kind that have what was typed; the newest where nothing was. Enter takes the first. */
function useProposals(kind: Kind, typed: string, isOn: boolean) {
  const definitions = useDefinitions();
  const { data: me } = useMe();
  const call = useCall();
  const place = me && placeOf(kind, definitions, me);
  const wanted = useDeferredValue(typed.trim());
  const text = wordsOf(wanted);
  const search = text !== '' && place?.list.isSearched ? { $search: text } : {};
  const isNarrowed = wanted === '' || '$search' in search;
  const asked = { ...search, $top: isNarrowed ? SHOWN : MOST };
  const { data = [], isPlaceholderData } = useQuery({
    queryKey: [...queryKey(place?.list.operation.id ?? kind.name), 'proposals', asked],
    enabled: isOn && place !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async () => {
      if (!place) return [];
      const answer = await call(place.list.operation, { ...place.input, ...asked });
      const { value } = answer as { value: Row[] };
      return value.map((row) => ('id' in row ? row : ((row[oneOf(kind.name)] as Row | undefined) ?? row)));
    },
  });
  const isFit = (row: Row) => titleOf(row).toLowerCase().includes(typed.trim().toLowerCase());
  // those of what was typed before, or of a list that cannot search for it, are not what was typed
  const isForThis = isNarrowed && !isPlaceholderData && wanted === typed.trim();
  return (isForThis ? data : data.filter(isFit)).slice(0, SHOWN);
}

/** The name of a chosen record. */
export function useRecordName(kind: Kind, id: string): string {
  const { people } = useSession();
  const call = useCall();
  const { data } = useQuery({
    queryKey: [...queryKey(kind.get.id), 'name', id],
    enabled: isId(id),
    retry: false,
    staleTime: 60_000,
    queryFn: async () => {
      const card = kind.name === 'identities' ? await people.get(id) : null;
      return card?.name ?? titleOf((await call(kind.get, { [kind.param]: id })) as Row);
    },
  });
  return data ?? shortId(id);
}

interface RecordInputProps {
  id: string;
  /** Where its value is in the form. */
  name: string;
  kind: Kind;
  value: string;
  onChange(id: string): void;
  'aria-describedby'?: string;
}

/** Finds a record by what is typed; an id can be pasted too. */
export function RecordInput({ id, kind, value, onChange, ...described }: RecordInputProps) {
  const [typed, setTyped] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const [isOpen, setOpen] = useState(false);
  const proposals = useProposals(kind, typed, isOpen);
  const one = oneText(kind.name);

  /** What is typed and not chosen is no value: the form refuses it, instead of leaving it out. */
  function type(text: string): void {
    setTyped(text);
    input.current?.setCustomValidity(text.trim() === '' ? '' : t('records.form.chooseFound'));
  }
  function choose(chosen: string): void {
    type('');
    onChange(chosen);
    setOpen(false);
  }
  if (value)
    return (
      <span className="chosen">
        <ChosenName kind={kind} id={value} />
        <Button
          className="quiet icon-button"
          id={id}
          aria-label={t('records.form.removeOne', { one })}
          onClick={() => choose('')}
        >
          <Icon name="close" />
        </Button>
      </span>
    );
  const pasted = typed.trim();
  const entries = isId(pasted)
    ? [{ key: pasted, text: pasted, run: () => choose(pasted) }]
    : proposals.map((row) => ({ key: String(row['id']), text: titleOf(row), run: () => choose(String(row['id'])) }));
  return (
    <div
      className="combobox"
      onFocus={() => setOpen(true)}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setOpen(false);
      }}
    >
      <FoundList
        id={id}
        ref={input}
        {...described}
        placeholder={t('records.form.find', { an: String(/^[aeiou]/.test(one)), one })}
        value={typed}
        onType={type}
        listLabel={t('records.form.found')}
        entries={isOpen ? entries : []}
      />
    </div>
  );
}

function ChosenName({ kind, id }: { kind: Kind; id: string }) {
  return <span className="chosen-name">{useRecordName(kind, id)}</span>;
}

/** Several records, one after the other. */
export function RecordsInput({
  value,
  onChange,
  ...props
}: Omit<RecordInputProps, 'value' | 'onChange'> & { value: string[]; onChange(ids: string[]): void }) {
  return (
    <div className="chosen-many">
      {value.map((one) => (
        <RecordInput
          key={one}
          {...props}
          id={`${props.id}-${one}`}
          value={one}
          onChange={() => onChange(value.filter((other) => other !== one))}
        />
      ))}
      <RecordInput {...props} value="" onChange={(id) => id !== '' && !value.includes(id) && onChange([...value, id])} />
    </div>
  );
}
