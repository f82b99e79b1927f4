import type { QueryParameters } from '@tandem/client';
import { CopyButton } from '../ui/copy.js';
import { addressOf, readableAddressOf } from './queries.js';
import { t } from '../texts/texts.js';

/** The chart's query, as a REST URL. */
export function QueryText({ parameters, queries }: { parameters: QueryParameters | undefined; queries: number }) {
  if (!parameters) return null;
  return (
    <details className="query">
      <summary>{queries > 1 ? t('catalogue.query.many', { queries }) : t('catalogue.query.one')}</summary>
      <pre>{readableAddressOf(parameters)}</pre>
      <p className="query-ways">
        <CopyButton text={new URL(addressOf(parameters), location.origin).href} says={t('catalogue.query.copy')} />
        <a href={addressOf(parameters)}>{t('catalogue.query.open')}</a>
      </p>
    </details>
  );
}
