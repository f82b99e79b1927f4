import { z } from 'zod';
import { Id, Timestamp } from '../shared/schemas.js';
import { isAttachmentType } from './file-types.js';

/** Maximum file size, in bytes. */
const MAX_BYTES = 10_000_000;
const TYPE_MAX = 255;

/**
 * A file in answers. `url` is its download address, valid for some minutes. The object id is never shown (decisions, section 6).
 */
export const FileSchema = z
  .object({ id: Id, type: z.string(), url: z.string(), createdAt: Timestamp, updatedAt: Timestamp })
  .meta({ id: 'File' });
export type ShownFile = z.infer<typeof FileSchema>;

/** The address to PUT a file to, and the id to attach it with. */
export const UploadAddressSchema = z.object({ objectId: Id, url: z.string() }).meta({ id: 'UploadAddress' });
export type UploadAddress = z.infer<typeof UploadAddressSchema>;

/** A reference to an uploaded file in a body. */
export const GivenFileSchema = z
  .strictObject({
    objectId: Id.describe('The id that the upload address came with.'),
    type: z.string().max(TYPE_MAX).describe('The media type that the file was uploaded as.'),
  })
  .meta({ id: 'GivenFile' });
export type GivenFile = z.infer<typeof GivenFileSchema>;

const contentLength = z
  .number()
  .int()
  .min(1)
  .max(MAX_BYTES)
  .meta({ description: 'The size of the file, in bytes.', examples: [48_213] });
const CONTENT_TYPE = 'The media type of the file.';

/** Query parameters of an upload address for these types. Spread them into a route's input. */
export function uploadParameters<const Types extends readonly [string, ...string[]]>(types: Types) {
  return { contentType: z.enum(types).describe(CONTENT_TYPE), contentLength };
}

/** Like `uploadParameters`, for message attachments, which allow nearly any type. */
export const attachmentUploadParameters = {
  contentType: z
    .string()
    .max(TYPE_MAX)
    .refine(isAttachmentType, 'must be an allowed media type')
    .meta({ description: CONTENT_TYPE, examples: ['image/png'] }),
  contentLength,
};

/** The type and size of a requested upload. */
export interface UploadRequest {
  contentType: string;
  contentLength: number;
}
