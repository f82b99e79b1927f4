import { TandemProvider } from '@tandem/react';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { App } from '../src/app.js';

let root: Root;
const page = document.createElement('div');

/** Answers of a server, by tRPC procedure. */
const answers: Record<string, { status: number; body: object }> = {};
const answer: typeof fetch = async (url) => {
  const { pathname } = new URL(url instanceof Request ? url.url : url);
  const procedure = pathname.split('/').at(-1) ?? '';
  const { status, body } = answers[procedure] ?? { status: 404, body: {} };
  return new Response(JSON.stringify(body), { status });
};

beforeEach(() => {
  document.body.append(page);
  root = createRoot(page);
  root.render(
    <QueryClientProvider client={new QueryClient()}>
      <TandemProvider url="http://localhost" fetch={answer}>
        <App />
      </TandemProvider>
    </QueryClientProvider>,
  );
});
afterEach(() => root.unmount());

/** Sends the form of the page. */
async function signIn() {
  await vi.waitFor(() => expect(page.querySelector('h1')?.textContent).toBe('Sign in'));
  const [email, password] = page.querySelectorAll('input');
  email!.value = 'ann@example.org';
  password!.value = 'tea at the harbour';
  page.querySelector('form')?.requestSubmit();
}

it('says why somebody could not sign in', async () => {
  const message = 'wrong credentials provided';
  answers['auth.login'] = { status: 401, body: { error: { message, code: -32001, data: { httpStatus: 401 } } } };
  await signIn();
  await vi.waitFor(() => expect(page.querySelector('[role=alert]')?.textContent).toBe(message));
});

it.each([
  [[], 'Check your mail', ['The code that we have sent you', 'Sign in']],
  [['totp', 'recovery'], 'One more step', ['The code of your authenticator app, or a recovery code', 'Sign in']],
  [['passkey', 'recovery'], 'One more step', ['Use a passkey', 'A recovery code', 'Sign in']],
  [['passkey'], 'One more step', ['Use a passkey']],
])('asks for the second step that can follow: %j', async (factors, title, asked) => {
  answers['auth.login'] = { status: 200, body: { result: { data: { token: 'challenge', factors } } } };
  await signIn();
  await vi.waitFor(() => expect(page.querySelector('h1')?.textContent).toBe(title));
  expect([...page.querySelectorAll('label, button')].map(({ textContent }) => textContent)).toEqual(asked);
});
