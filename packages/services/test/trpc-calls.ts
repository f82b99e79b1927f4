import type { TestStream } from '@tandem/testing';

let lastId = 0;

/** A call that anybody may make. */
export const query = () => ({ id: ++lastId, method: 'query', params: { path: 'categories.list', input: {} } });

/** Reads the events of a channel. */
export const subscription = (channelId: string, id = ++lastId) => ({
  id,
  method: 'subscription',
  params: { path: 'chat.channelEvents', input: { channelId } },
});
export const stop = (id: number) => ({ id, method: 'subscription.stop' });
/** What a socket at /trpc was answered to a call: `started`, `data`, `stopped`, or the status of an error. */
export const answersTo = ({ frames }: TestStream, id: number) =>
  frames
    .filter((frame) => frame['id'] === id)
    .map((frame) => {
      const { error, result } = frame as { error?: { data: { httpStatus: number } }; result?: { type: string } };
      return error?.data.httpStatus ?? result?.type;
    });
