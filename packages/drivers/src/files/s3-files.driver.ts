import type { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { dispositionOf } from './disposition.js';
import { ADDRESS_MS, type FilesDriver, type StoredObject } from './files.driver.js';
import { readS3Url, type S3Settings } from './s3-url.js';

/** Longest waits for the storage, in milliseconds: a request must be answered within 15 s. */
const CONNECT_MS = 2000;
const ANSWER_MS = 4000;
/** Longest pause within the body of an answer. */
const SILENCE_MS = 60_000;
const ATTEMPTS = 2;
/** Tries to copy an object that is replaced through its upload URL meanwhile. */
const COPY_TRIES = 3;

function clientOf({ endpoint, region, credentials }: S3Settings): S3Client {
  const config: S3ClientConfig = {
    region,
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: ANSWER_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENCE_MS,
    },
    // otherwise every upload URL would contain the checksum of an empty body
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials }),
  };
  return new S3Client(config);
}

const statusOf = (error: unknown) => (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;

/** The header that names the source of a copy; the SDK does not encode it. */
const copySourceOf = ({ Bucket, Key }: { Bucket: string; Key: string }) =>
  [Bucket, ...Key.split('/')].map(encodeURIComponent).join('/');

/** Keeps files in an S3 or S3-compatible bucket; clients upload and download directly. */
export function openS3FilesDriver(url: string, now: () => Date): FilesDriver {
  const settings = readS3Url(url);
  const client = clientOf(settings);
  const whereOf = (objectId: string) => ({ Bucket: settings.bucket, Key: `${settings.prefix}${objectId}` });
  const lifetime = (milliseconds = ADDRESS_MS) => ({ expiresIn: Math.floor(milliseconds / 1000), signingDate: now() });

  /** @returns the tag of an object's version that has its type and size; undefined where there is none. @throws what the SDK throws */
  async function tagOf({ objectId, type, size }: StoredObject): Promise<string | undefined> {
    const { ContentLength, ContentType, ETag } = await client.send(new HeadObjectCommand(whereOf(objectId)));
    return ContentLength === size && ContentType === type ? ETag : undefined;
  }

  return {
    addressMs: ADDRESS_MS,
    uploadUrl({ objectId, type, size }) {
      const put = new PutObjectCommand({ ...whereOf(objectId), ContentType: type, ContentLength: size });
      // signed headers must be sent unchanged, so the URL accepts only this type and size
      return getSignedUrl(client, put, { ...lifetime(), signableHeaders: new Set(['host', 'content-type', 'content-length']) });
    },
    downloadUrl({ objectId, type }, milliseconds) {
      const shown = { ResponseContentType: type, ResponseContentDisposition: dispositionOf(type) };
      return getSignedUrl(client, new GetObjectCommand({ ...whereOf(objectId), ...shown }), lifetime(milliseconds));
    },
    async read({ objectId }) {
      try {
        // unlike `fetch`, this unpacks nothing, whatever encoding an upload has named
        const { Body } = await client.send(new GetObjectCommand(whereOf(objectId)));
        return Body as Readable;
      } catch (error) {
        if (statusOf(error) !== 404) throw error;
        throw Object.assign(new Error('an object is missing'), { code: 'ENOENT' });
      }
    },
    async holds(object) {
      try {
        return (await tagOf(object)) !== undefined;
      } catch (error) {
        if (statusOf(error) === 404) return false;
        throw error;
      }
    },
    async copy(object, to) {
      const source = whereOf(object.objectId);
      for (let tries = 0; tries < COPY_TRIES; tries++) {
        try {
          const ETag = await tagOf(object);
          if (ETag === undefined) return false;
          const unchanged = { CopySource: copySourceOf(source), CopySourceIfMatch: ETag };
          // without the encoding and other headers that an upload may have named: its address signs the type alone
          const headers = { MetadataDirective: 'REPLACE', ContentType: object.type } as const;
          await client.send(new CopyObjectCommand({ ...whereOf(to), ...unchanged, ...headers }));
          return true;
        } catch (error) {
          const status = statusOf(error);
          if (status === 404) return false;
          // another upload came in between: check that one
          if (status !== 412) throw error;
        }
      }
      throw new Error('an object is replaced faster than it can be copied');
    },
    async remove(objectId) {
      await client.send(new DeleteObjectCommand(whereOf(objectId)));
    },
    async verify() {
      await client.send(new HeadBucketCommand({ Bucket: settings.bucket }));
    },
    async close() {
      client.destroy();
    },
  };
}
