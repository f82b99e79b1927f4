import { useState } from 'react';
import type { Input } from './call.js';
import type { RecordList } from './definitions.js';
import { Button } from '../ui/button.js';
import { CopyButton } from '../ui/copy.js';
import { t } from '../texts/texts.js';

interface QueryShownProps {
  list: RecordList;
  input: Input;
}

/** A list's query for use elsewhere: as an address, for curl and for the typed client. */
export function QueryShown({ list: { operation, params }, input }: QueryShownProps) {
  const [form, setForm] = useState<'address' | 'curl' | 'client'>('address');
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(input[name]));
  const query = Object.entries(input).filter(([name]) => !params.includes(name));
  const search = query.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&');
  const address = `${path}${search && '?'}${search}`;
  const texts = {
    address: `GET ${path}${query.map(([name, value], at) => `\n  ${at === 0 ? '?' : '&'}${name}=${String(value)}`).join('')}`,
    curl: `curl -s -H "authorization: Bearer $TOKEN" \\\n  '${location.origin}${address.replaceAll("'", '%27')}'`,
    client: `await client.api.${operation.id}.query(${JSON.stringify(input, undefined, 2)});`,
  };
  return (
    <details className="query">
      <summary>{t('records.query.title')}</summary>
      <fieldset className="group tabs-small" aria-label={t('records.query.form')}>
        {(['address', 'curl', 'client'] as const).map((one) => (
          <Button key={one} className="quiet" aria-pressed={form === one} onClick={() => setForm(one)}>
            {t(`records.query.${one}`)}
          </Button>
        ))}
        <CopyButton className="quiet" text={form === 'address' ? location.origin + address : texts[form]} />
      </fieldset>
      <pre>
        <code>{texts[form]}</code>
      </pre>
    </details>
  );
}
