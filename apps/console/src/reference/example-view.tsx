import { useState } from 'react';
import { asCurl, asFetch, asTypedClient, sampleCall } from './examples.js';
import type { Operation, Reference } from './reference.js';

const LANGUAGES = { curl: asCurl, fetch: asFetch, 'typed client': asTypedClient };
type Language = keyof typeof LANGUAGES;

// beside the console's keys, of the same origin
const KEY = 'tandem.example';
const keptLanguage = () => (Object.keys(LANGUAGES) as Language[]).find((name) => name === localStorage.getItem(KEY)) ?? 'curl';

/** How to call an operation, in the language that was last chosen. */
export function ExampleView({ operation, reference }: { operation: Operation; reference: Reference }) {
  const [language, setLanguage] = useState(keptLanguage);
  const text = LANGUAGES[language](operation, reference, sampleCall(operation, reference));
  function choose(name: Language): void {
    localStorage.setItem(KEY, name);
    setLanguage(name);
  }
  return (
    <section aria-labelledby="example">
      <h2 id="example">Example</h2>
      <fieldset className="languages">
        <legend className="unseen">Language</legend>
        {(Object.keys(LANGUAGES) as Language[]).map((name) => (
          <button key={name} type="button" aria-pressed={name === language} onClick={() => choose(name)}>
            {name}
          </button>
        ))}
        <CopyButton key={text} text={text} />
      </fieldset>
      <pre>{text}</pre>
    </section>
  );
}

function CopyButton({ text }: { text: string }) {
  const [says, setSays] = useState('Copy');
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setSays('Copied');
    } catch {
      // as on a page without TLS
      setSays('The browser does not allow it');
    }
  }
  return (
    <button type="button" className="quiet" onClick={() => void copy()}>
      {says}
    </button>
  );
}
