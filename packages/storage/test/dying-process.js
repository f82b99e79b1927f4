import { defineModel, openStorage } from '@tandem/storage';

/**
 * Begins a unit of three steps and is killed between the first and the second. Runs the build: `node dying-process.js
 * <uri> <recovery>`.
 */
const [uri = '', recovery] = process.argv.slice(2);
const storage = await openStorage({ uri });
const marks = storage.model(defineModel('marks', { fields: { key: String }, softDelete: false, indexes: [] }));

/** @param {number} n */
const step = (n) => ({
  name: `step ${n}`,
  /** @param {{ key: string }} payload */
  async run({ key }) {
    if (n === 2) process.kill(process.pid, 'SIGKILL');
    await marks.updateOne({ _id: `${key}-${n}` }, { key }, { upsert: true });
  },
  /** @param {{ key: string }} payload */
  undo: ({ key }) => marks.deleteOne({ _id: `${key}-${n}` }),
  ...(recovery === 'undo' && { isDone: async () => false }),
});
await storage
  .defineUnit({
    name: `dying ${recovery}`,
    steps: [step(1), step(2), step(3)],
  })
  .run({ key: 'k' });
