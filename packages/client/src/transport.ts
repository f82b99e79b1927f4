/** How a client sends its tokens: in the `Authorization` header, or in cookies that only the browser sees. */
export type ClientMode = 'bearer' | 'cookie';

/** The same `fetch` as the platform's. */
export type Fetch = typeof globalThis.fetch;

/** How requests are sent. */
export interface Transport {
  /** Of tRPC. */
  url: string;
  fetch: Fetch;
  fingerprint: string | undefined;
  fingerprintHeaders: Readonly<Record<string, string>>;
}

interface TransportOptions {
  url: string;
  mode: ClientMode;
  fingerprint?: string | undefined;
  fetch?: Fetch | undefined;
}

/** Name of the header that carries the device's fingerprint (spec, "Authentication" 4). */
const FINGERPRINT_HEADER = 'x-nb-fingerprint';
/**
 * Survives a header unchanged, as it was in the login's body: 1 to 512 printable ASCII characters, no space at either
 * end.
 */
const FINGERPRINT_PATTERN = /^[!-~](?:[ -~]{0,510}[!-~])?$/;

/**
 * The error for a server that `fetch` could not reach: its own text names neither server nor reason. Of the URL only
 * the origin is shown, since the rest may hold credentials.
 */
function unreachable(url: string, { cause }: TypeError): TypeError {
  const origin = URL.canParse(url) ? new URL(url).origin : 'null';
  if (origin === 'null') return new TypeError('the server cannot be reached: url must begin with http:// or https://');
  const { code, message } = (cause ?? {}) as { code?: string; message?: string };
  const reason = code ?? message;
  return new TypeError(`the server at ${origin} cannot be reached${reason === undefined ? '' : ` (${reason})`}`);
}

/** @throws TypeError when the fingerprint could not be sent in a header unchanged */
export function createTransport({ url, mode, fingerprint, fetch: given }: TransportOptions): Transport {
  if (fingerprint !== undefined && !FINGERPRINT_PATTERN.test(fingerprint))
    throw new TypeError('fingerprint: 1 to 512 printable ASCII characters are needed, without a space at either end');
  const send: Fetch = async (input, init) => {
    try {
      return await (given ?? globalThis.fetch)(input, init);
    } catch (error) {
      throw error instanceof TypeError ? unreachable(url, error) : error;
    }
  };
  return {
    url: `${url.replace(/\/+$/, '')}/trpc`,
    fetch: mode === 'cookie' ? (input, init) => send(input, { ...init, credentials: 'include' }) : send,
    fingerprint,
    fingerprintHeaders: fingerprint === undefined ? {} : { [FINGERPRINT_HEADER]: fingerprint },
  };
}
