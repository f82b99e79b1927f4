import type { Person } from '@tandem/testing';
import { expect } from 'vitest';
import type { GivenFile, UploadAddress } from '../src/files/files.schemas.js';

/** Uploads a text to an address of this route. @returns what a record takes */
export async function upload(person: Person, route: string, type: string, body: string): Promise<GivenFile> {
  const path = `${route}?contentType=${type}&contentLength=${body.length}`;
  const { objectId, url } = await person.rest('GET', path).expect<UploadAddress>(200);
  const answer = await fetch(url, { method: 'PUT', headers: { 'content-type': type }, body });
  expect(answer.status).toBe(200);
  return { objectId, type };
}
