import type { CustomFetch } from 'openid-client';

/** Largest answer of a provider that is read, in bytes: many times what their descriptions, keys and accounts take. */
const ANSWER_MAX_BYTES = 512 * 1024;

/** Fetches from a provider, and fails as soon as an answer exceeds what is read of it. */
export const boundedFetch: CustomFetch = async (url, options) => {
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- the console compiles it with the types of browsers
  const response = await fetch(url, options as RequestInit);
  let size = 0;
  const bounded = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.byteLength;
        if (size > ANSWER_MAX_BYTES) controller.error(new Error('the answer of the provider is too large'));
        else controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(bounded ?? null, { status, statusText, headers });
};
