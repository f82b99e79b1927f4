import { readFileSync } from 'node:fs';
import type { OpenApiDocument } from '@tandem/core';
import type { AsyncApiDocument, Tandem } from '@tandem/services';
import type { Config } from './config.js';
import { REQUEST_ID_HEADER } from './observation.js';

/** Of all packages. */
export const { version: VERSION } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const REQUEST_ID = {
  required: true,
  description: 'The id of the request in the logs: the one that was sent in this header, or a new one.',
  schema: { type: 'string' },
};

/**
 * The document that the server publishes at `/openapi.json`; without a public URL it names the server that it was
 * loaded from.
 */
export function describeApi(tandem: Tandem, { publicUrl: url = '/' }: Pick<Config, 'publicUrl'>): Promise<OpenApiDocument> {
  const description =
    'Accounts, identities, organizations and notifications. Every operation is a tRPC procedure of the same name too.';
  const headers = { [REQUEST_ID_HEADER]: REQUEST_ID };
  const about = { title: 'Tandem', contact: { name: 'Tandem' }, license: { name: 'MIT', identifier: 'MIT' } };
  return tandem.openApi({ ...about, description, version: VERSION, url, headers });
}

/** The document of the streams, which the server publishes at `/asyncapi.json`. */
export function describeStreams(tandem: Tandem, { publicUrl: url = '/' }: Pick<Config, 'publicUrl'>): AsyncApiDocument {
  return tandem.asyncApi({ title: 'Tandem', description: 'Events of channels, and notifications.', version: VERSION, url });
}
