import { RETURN_URL, fixture, startOidcProvider, startTestServer, type Browser } from '@tandem/testing';
import { afterEach } from 'vitest';

/** What the return address says when a provider has failed. */
export const FAILED = { error: 'provider_error' };

/** A server with a provider under two names. What a test tampers with at the provider is as before after it. */
export function useTwoProviders() {
  const idp = fixture(() => startOidcProvider({ names: ['acme', 'other'] }));
  const app = fixture(() => {
    const providers = { acme: idp.settings, other: idp.settings };
    return startTestServer({ providers, redirectUrls: [RETURN_URL], logLevel: 'trace' });
  });
  afterEach(() => {
    delete idp.tamper.authorization;
    delete idp.tamper.tokens;
  });
  return { idp, app };
}

/** The parameters of a return address. */
export const said = (url: string | URL) => Object.fromEntries(new URL(url).searchParams);

/** What a browser is answered: status and body. */
export async function answerOf(browser: Browser, url: string): Promise<[number, unknown]> {
  const { status, body } = await browser.send('GET', url);
  return [status, body];
}

/** The URL with other parameters. */
export function changed(url: string, change: (parameters: URLSearchParams) => void): string {
  const other = new URL(url);
  change(other.searchParams);
  return other.href;
}
