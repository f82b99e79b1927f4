import { z } from 'zod';
import { Id, Timestamp } from '../shared/schemas.js';
import { isAttachmentType } from './file-types.js';

/** Largest file, in bytes. */
const MAX_BYTES = 10_000_000;
const TYPE_MAX = 255;

/** A file as a record shows it: `url` is where it can be downloaded for some minutes. Never the object's id (decisions, section 6). */
export const FileSchema = z
  .object({ id: Id, type: z.string(), url: z.string(), createdAt: Timestamp, updatedAt: Timestamp })
  .meta({ id: 'File' });
export type ShownFile = z.infer<typeof FileSchema>;

/** Where to PUT a file, and by which id to attach it afterwards. */
export const UploadAddressSchema = z.object({ objectId: Id, url: z.string() }).meta({ id: 'UploadAddress' });
export type UploadAddress = z.infer<typeof UploadAddressSchema>;

/** An uploaded file, as a body names it. */
export const GivenFileSchema = z.strictObject({ objectId: Id, type: z.string().max(TYPE_MAX) });
export type GivenFile = z.infer<typeof GivenFileSchema>;

const contentLength = z.number().int().min(1).max(MAX_BYTES);

/** The query parameters of an upload address of one of these types: spread them into the route's own input. */
export function uploadParameters<const Types extends readonly [string, ...string[]]>(types: Types) {
  return { contentType: z.enum(types), contentLength };
}

/** The same, of a message's attachment: nearly any type. */
export const attachmentUploadParameters = {
  contentType: z.string().max(TYPE_MAX).refine(isAttachmentType, 'must be an allowed media type'),
  contentLength,
};

/** What an upload address is asked for with. */
export interface UploadRequest {
  contentType: string;
  contentLength: number;
}
