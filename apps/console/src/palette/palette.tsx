import { lazy, Suspense, useState } from 'react';
import type { Me } from '../session/me.js';
import { Dialog } from '../ui/dialog.js';
import { FoundList, type FoundEntry } from '../ui/found-list.js';
import { RECORDS, t, withTexts } from '../texts/texts.js';

const loadFinder = withTexts(RECORDS, () => import('./finder.js'));
const Finder = lazy(async () => ({ default: (await loadFinder()).Finder }));

export interface FinderProps {
  me: Me;
  typed: string;
  onType(text: string): void;
  onClose(): void;
}

/** The search over everything: one can type while what finds is still loading. */
export function Palette({ me, onClose }: Pick<FinderProps, 'me' | 'onClose'>) {
  const [typed, setTyped] = useState('');
  const props = { me, typed, onType: setTyped, onClose };
  return (
    <Dialog title={t('ui.find')} onClose={onClose}>
      <Suspense fallback={<FinderInput {...props} entries={[]} />}>
        <Finder {...props} />
      </Suspense>
    </Dialog>
  );
}

/** What is typed, and what it finds; arrows go through them, Enter opens one. */
export function FinderInput({ typed, onType, entries }: FinderProps & { entries: readonly FoundEntry[] }) {
  return (
    <FoundList
      aria-label={t('ui.palette.label')}
      listLabel={t('ui.palette.found')}
      // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog was opened to type here
      autoFocus
      value={typed}
      onType={onType}
      entries={entries}
    />
  );
}
