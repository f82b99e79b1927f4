import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** An empty folder, such as the data of a server. It is removed with what is in it on disposal. */
export interface Folder extends AsyncDisposable {
  path: string;
}

export async function makeFolder(): Promise<Folder> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-'));
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
