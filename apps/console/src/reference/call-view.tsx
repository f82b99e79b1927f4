import { createTandemClient, type MemoryTokenStore } from '@tandem/client';
import { useRef, useState } from 'react';
import { cookieOwner } from '../session/cookie-owner.js';
import { Confirm } from '../ui/confirm.js';
import type { Parameter } from './document.js';
import { addressOf, type Sent } from './examples.js';
import type { Operation } from './reference.js';

interface CallViewProps {
  operation: Operation;
  /** What is proposed. */
  sample: Sent;
  /** Those of the console's session in this tab. */
  tokens: MemoryTokenStore;
}

/** Who is signed in. */
interface Caller {
  identityId: string;
  /** Undefined where they are in cookies. */
  tokens: MemoryTokenStore | undefined;
}

interface Outcome {
  status: string;
  text: string;
}

const asJson = (value: unknown) => JSON.stringify(value, undefined, 2);
/** A name may occur in several places. */
const keyOf = ({ in: place, name }: Parameter) => `${place} ${name}`;

function callerOf({ schemes }: Operation, tokens: MemoryTokenStore): Caller | undefined {
  const isByCookie = schemes.includes('cookie');
  const identityId = isByCookie ? cookieOwner.load() : tokens.load()?.identityId;
  return identityId === undefined ? undefined : { identityId, tokens: isByCookie ? undefined : tokens };
}

/** Calls the operation on this server, with the session of the console. Asks before anything that may change data. */
export function CallView({ operation, sample, tokens }: CallViewProps) {
  const { method, parameters, body } = operation;
  const asked = parameters.filter(({ in: place }) => place !== 'cookie');
  const [values, setValues] = useState<Record<string, string>>(() => {
    const { path, query, headers } = sample;
    const pairs = Object.entries({ path, query, header: headers }).flatMap(([place, given]) =>
      Object.entries(given).map(([name, value]) => [keyOf({ in: place, name }), String(value)]),
    );
    return Object.fromEntries(pairs);
  });
  const [text, setText] = useState(() => (body ? asJson(sample.body) : ''));
  const [isAsking, setAsking] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const latest = useRef(0);

  function given(place: string): Record<string, string> {
    const filled = asked.filter((one) => one.in === place).map((one) => [one.name, values[keyOf(one)] ?? ''] as const);
    return Object.fromEntries(filled.filter(([, value]) => value !== ''));
  }
  const headers = given('header');
  const address = addressOf(location.origin, operation, { path: given('path'), query: given('query'), headers });
  const caller = callerOf(operation, tokens);

  async function call(): Promise<void> {
    const turn = ++latest.current;
    setOutcome({ status: 'Sending…', text: '' });
    const shown = await send({ method, address, headers, body: body && text !== '' ? text : undefined, caller });
    if (turn === latest.current) setOutcome(shown);
  }

  return (
    <section className="call" aria-labelledby="call">
      <h2 id="call">Call it</h2>
      <p className="hint">
        {caller ? 'With your session of the console in this tab.' : 'Without credentials: '}
        {!caller && <a href="/console">sign in to the console in this tab</a>}
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (method === 'GET') void call();
          else setAsking(true);
        }}
      >
        {asked.map((one) => (
          <label key={keyOf(one)} className="field">
            <code>{one.name}</code>
            <input
              value={values[keyOf(one)] ?? ''}
              required={one.required ?? false}
              // what headers can carry
              {...(one.in === 'header' && { pattern: '[ -~]*', title: 'Printable ASCII characters' })}
              onChange={(event) => setValues({ ...values, [keyOf(one)]: event.target.value })}
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
          <p>It may change data on this server:</p>
          <pre>
            {[`${method} ${address}`, ...Object.entries(headers).map((pair) => pair.join(': ')), '', text].join('\n').trimEnd()}
          </pre>
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

interface Request {
  method: string;
  address: string;
  headers: Record<string, string>;
  body: string | undefined;
  caller: Caller | undefined;
}

/** Sends a request, after renewing an access token that has expired. */
async function send({ method, address, headers: given, body, caller }: Request): Promise<Outcome> {
  try {
    // a request is never repeated: some 401s count as failed attempts
    if (caller) await renew(caller);
    const token = caller?.tokens?.load()?.accessToken;
    const headers = {
      ...given,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const answer = await fetch(address, { method, headers, redirect: 'manual', ...(body !== undefined && { body }) });
    if (answer.type === 'opaqueredirect') return { status: 'A redirect to another page', text: '' };
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') && text !== '';
    return { status: `${answer.status} ${answer.statusText}`.trim(), text: isJson ? asJson(JSON.parse(text)) : text };
  } catch {
    return { status: 'The server cannot be reached', text: '' };
  }
}

/** Lets the client refresh what has expired, by a call of its own. Where that fails, the request says why. */
async function renew({ identityId, tokens }: Caller): Promise<void> {
  const { api } = createTandemClient({ url: location.origin, ...(tokens ? { tokens } : { mode: 'cookie' }) });
  await api.identities.get.query({ identityId }).catch(() => {});
}
