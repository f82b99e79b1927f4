import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ApiDocument } from '../reference/document.js';
import { readReference } from '../reference/reference.js';
import { Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { ActProvider } from './acts.js';
import { DefinitionsProvider, readDefinitions } from './definitions.js';
import { t } from '../texts/texts.js';
import './records.css';

interface WithDefinitionsProps {
  children: ReactNode;
  /** Shown until it is loaded, instead of a heading that says so. */
  waiting?: ReactNode;
}

/** Loads what the server defines, for what is made of it. */
export function WithDefinitions({ children, waiting }: WithDefinitionsProps) {
  const loading = useQuery({
    queryKey: ['definitions'],
    staleTime: Infinity,
    queryFn: async () => {
      const answer = await fetch('/openapi.json');
      if (!answer.ok) throw new Error(`the answer to /openapi.json is ${answer.status}`);
      return readDefinitions(readReference((await answer.json()) as ApiDocument, location.origin));
    },
  });
  if (!loading.data)
    return (
      <>
        {waiting ?? <h1 className="unseen">{t('ui.loadingAlone')}</h1>}
        <QueryFailure of={[loading]} />
        {!loading.error && <Loading what={t('records.loading.definitions')} />}
      </>
    );
  return (
    <DefinitionsProvider value={loading.data}>
      <ActProvider>{children}</ActProvider>
    </DefinitionsProvider>
  );
}
