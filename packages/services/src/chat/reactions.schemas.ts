import { z } from 'zod';
import { Id } from '../shared/schemas.js';

const KEY_MAX = 32;
const WORD = /^[a-z0-9_+-]+$/;
const EMOJI = new RegExp(String.raw`^\p{RGI_Emoji}$`, 'v');

const isKey = (text: string) => WORD.test(text) || EMOJI.test(text);
/** What people react with (decisions C3). */
export const ReactionKey = z
  .string()
  .normalize('NFC')
  .max(KEY_MAX)
  .refine(isKey, 'must be one emoji, or a word of a-z, 0-9, _, + and -')
  .meta({ description: 'One emoji, or a word of `a-z`, `0-9`, `_`, `+` and `-`.', examples: ['👍', '+1'] });

/** As answers show it, which need not pass today's checks. */
const ShownKey = z.string().min(1);
const Count = z.number().int();

/** A key of a message in a frame, which is the same for all readers (decisions S6). */
export const ReactionCountSchema = z.object({ key: ShownKey, count: Count.min(1) }).meta({ id: 'ReactionCount' });

/** A key of a message, for one reader. */
export const ReactionSchema = ReactionCountSchema.extend({
  mine: z.boolean().describe('Whether the caller is one of them.'),
}).meta({ id: 'Reaction' });
export type Reaction = z.infer<typeof ReactionSchema>;

/** What readers are told when one reacts, or takes it back; `count` is how many react with that key now. */
export const reactionEvent = { messageId: Id, key: ShownKey, identityId: Id, count: Count.min(0) };

export const reactionInput = z.strictObject({ messageId: Id, key: ReactionKey });
