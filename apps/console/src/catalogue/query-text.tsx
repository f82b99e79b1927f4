import type { QueryParameters } from '@tandem/client';
import { useMutation } from '@tanstack/react-query';
import { Button } from '../ui/button.js';
import { addressOf, readableAddressOf } from './queries.js';
import { t } from '../texts/texts.js';

/** The chart's query, as a REST URL. */
export function QueryText({ parameters, queries }: { parameters: QueryParameters | undefined; queries: number }) {
  const copying = useMutation({
    mutationFn: () => navigator.clipboard.writeText(new URL(addressOf(parameters ?? {}), location.origin).href),
  });
  if (!parameters) return null;
  return (
    <details className="query">
      <summary>{queries > 1 ? t('catalogue.query.many', { queries }) : t('catalogue.query.one')}</summary>
      <pre>{readableAddressOf(parameters)}</pre>
      <p className="query-ways">
        <Button onClick={() => copying.mutate()}>
          {t(copying.isSuccess ? 'catalogue.query.copied' : 'catalogue.query.copy')}
        </Button>
        <a href={addressOf(parameters)}>{t('catalogue.query.open')}</a>
      </p>
    </details>
  );
}
