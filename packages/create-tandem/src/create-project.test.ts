import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fixture, makeFolder } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { CreationError, createProject } from './create-project.js';

const folder = fixture(makeFolder);
const refusal = (name: string, packages?: string) =>
  createProject(path.join(folder.path, name), { template: 'host', ...(packages !== undefined && { packages }) }).catch(
    (error: unknown) => (error instanceof CreationError ? error.message : error),
  );

describe('a project is not made', () => {
  it('in a folder that is not empty, or in a file', async () => {
    await mkdir(path.join(folder.path, 'full'));
    await writeFile(path.join(folder.path, 'full/notes.txt'), 'mine');
    expect(await refusal('full')).toBe(`${folder.path}/full is not empty`);
    expect(await refusal('full/notes.txt')).toBe(`${folder.path}/full/notes.txt cannot be used: it is a file`);
    expect(await readdir(path.join(folder.path, 'full'))).toEqual(['notes.txt']);
  });

  it.each(['My App', '.hidden', 'ä', 'x'.repeat(215)])('with a name that npm refuses: %s', async (name) => {
    expect(await refusal(name)).toBe(`"${name}" cannot name a package: use a-z, 0-9, ".", "_" and "-"`);
  });

  it('from a folder without packages', async () => {
    expect(await refusal('app', path.join(folder.path, 'nowhere'))).toBe(`there is no folder ${folder.path}/nowhere`);
    await mkdir(path.join(folder.path, 'empty'));
    expect(await refusal('app', path.join(folder.path, 'empty'))).toContain('has no packages of Tandem');
    expect(await readdir(folder.path)).not.toContain('app');
  });
});
