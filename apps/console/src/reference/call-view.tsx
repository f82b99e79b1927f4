import { createTandemClient, type MemoryTokenStore } from '@tandem/client';
import { useRef, useState } from 'react';
import { cookieOwner } from '../session/cookie-owner.js';
import { Confirm } from '../ui/confirm.js';
import { addressOf, type Sent } from './examples.js';
import type { Operation } from './reference.js';

interface CallViewProps {
  operation: Operation;
  /** What is proposed. */
  sample: Sent;
  /** Those of the console's session in this tab. */
  tokens: MemoryTokenStore;
}

interface Outcome {
  status: string;
  text: string;
}

const asJson = (value: unknown) => JSON.stringify(value, undefined, 2);

/** Calls the operation on this server, with the session of the console. Asks before anything that may change data. */
export function CallView({ operation, sample, tokens }: CallViewProps) {
  const { method, parameters, body } = operation;
  const asked = parameters.filter(({ in: place }) => place === 'path' || place === 'query');
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(Object.entries({ ...sample.path, ...sample.query }).map(([name, value]) => [name, String(value)])),
  );
  const [text, setText] = useState(() => (body ? asJson(sample.body) : ''));
  const [isAsking, setAsking] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const latest = useRef(0);

  const given = (place: string) =>
    Object.fromEntries(
      asked.filter((one) => one.in === place && (values[one.name] ?? '') !== '').map(({ name }) => [name, values[name] ?? '']),
    );
  const address = addressOf(location.origin, operation, { path: given('path'), query: given('query'), headers: {} });
  const isByCookie = operation.schemes.includes('cookie');
  const isSignedIn = isByCookie ? cookieOwner.load() !== undefined : tokens.load() !== undefined;

  async function call(): Promise<void> {
    const turn = ++latest.current;
    setOutcome({ status: 'Sending…', text: '' });
    const shown = await send({ method, address, body: body && text !== '' ? text : undefined, tokens });
    if (turn === latest.current) setOutcome(shown);
  }

  return (
    <section className="call" aria-labelledby="call">
      <h2 id="call">Call it</h2>
      <p className="hint">
        {isSignedIn ? 'With your session of the console in this tab.' : 'Without credentials: '}
        {!isSignedIn && <a href="/console">sign in to the console in this tab</a>}
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (method === 'GET') void call();
          else setAsking(true);
        }}
      >
        {asked.map(({ name, in: place, required = false }) => (
          <label key={`${place} ${name}`} className="field">
            <code>{name}</code>
            <input
              value={values[name] ?? ''}
              required={required}
              onChange={(event) => setValues({ ...values, [name]: event.target.value })}
            />
          </label>
        ))}
        {body && (
          <label className="field">
            Body
            <textarea rows={8} value={text} onChange={(event) => setText(event.target.value)} />
          </label>
        )}
        <button type="submit" className="primary">
          Send
        </button>
      </form>
      {isAsking && (
        <Confirm
          title="Send this request?"
          action={`Send ${method}`}
          onConfirm={() => void call()}
          onClose={() => setAsking(false)}
        >
          It may change data on this server: {method} {address} {text}
        </Confirm>
      )}
      <output>
        {outcome && (
          <>
            <p className="tag">{outcome.status}</p>
            {outcome.text !== '' && <pre>{outcome.text}</pre>}
          </>
        )}
      </output>
    </section>
  );
}

/** Sends a request; where the access token has expired, once more after a refresh. */
async function send(request: { method: string; address: string; body: string | undefined; tokens: MemoryTokenStore }) {
  const { method, address, body, tokens } = request;
  async function attempt(): Promise<Response> {
    const kept = tokens.load();
    const headers = {
      ...(kept && { authorization: `Bearer ${kept.accessToken}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    return fetch(address, { method, headers, redirect: 'manual', ...(body !== undefined && { body }) });
  }
  try {
    let answer = await attempt();
    const kept = tokens.load();
    if (answer.status === 401 && kept) {
      const { api } = createTandemClient({ url: location.origin, tokens });
      await api.identities.get.query({ identityId: kept.identityId }).catch(() => {});
      if (tokens.load()?.accessToken !== kept.accessToken) answer = await attempt();
    }
    if (answer.type === 'opaqueredirect') return { status: 'A redirect to another page', text: '' };
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') && text !== '';
    return { status: `${answer.status} ${answer.statusText}`.trim(), text: isJson ? asJson(JSON.parse(text)) : text };
  } catch {
    return { status: 'The server cannot be reached', text: '' };
  }
}
