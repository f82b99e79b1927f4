import { cp, mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** What the templates are, for those who choose one. */
export const TEMPLATES = {
  host: 'an Express application with the services and an entity of its own',
  web: 'a web page with React: sign-in, a list, a chat',
};
export type Template = keyof typeof TEMPLATES;

/** What the caller can mend, as a line. */
export class CreationError extends Error {}

/** A name that npm accepts for a package, and a shell as a folder. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,213}$/;
/** npm leaves these out of packages under their own names. */
const HIDDEN = { gitignore: '.gitignore', dockerignore: '.dockerignore' };

interface Manifest {
  name: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  overrides?: Record<string, string>;
}

const inPackage = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url));
const readJson = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as unknown;

async function mustBeEmpty(target: string): Promise<void> {
  const found = await readdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new CreationError(`${target} cannot be used: ${error.code === 'ENOTDIR' ? 'it is a file' : error.message}`);
  });
  if (found.length > 0) throw new CreationError(`${target} is not empty`);
}

/** The tarballs of a folder, as dependencies by package. */
async function findTarballs(folder: string): Promise<Record<string, string>> {
  const files = await readdir(folder).catch(() => {
    throw new CreationError(`there is no folder ${folder}`);
  });
  const tarballs = files.flatMap((file) => {
    const [, name] = /^tandem-(.+)-\d+\.\d+\.\d+.*\.tgz$/.exec(file) ?? [];
    return name === undefined ? [] : [[`@tandem/${name}`, `file:${path.join(folder, file)}`] as const];
  });
  if (tarballs.length === 0) throw new CreationError(`${folder} has no packages of Tandem: npm run pack -- ${folder}`);
  return Object.fromEntries(tarballs);
}

/**
 * Writes a new project.
 * @param target an empty folder, or one that does not exist
 * @param options.packages a folder with Tandem's packages, which are then taken from there
 * @throws CreationError for a name or folder that cannot be used
 */
export async function createProject(
  target: string,
  { template, packages }: { template: Template; packages?: string },
): Promise<void> {
  const name = path.basename(target);
  if (!NAME.test(name)) throw new CreationError(`"${name}" cannot name a package: use a-z, 0-9, ".", "_" and "-"`);
  await mustBeEmpty(target);
  const tarballs = packages === undefined ? undefined : await findTarballs(packages);
  const versions = (await readJson(inPackage('dist/versions.json'))) as Record<string, string>;
  const manifest = (await readJson(inPackage(`templates/${template}/package.json`))) as Manifest;
  const versioned = (dependencies: Record<string, string>) =>
    Object.fromEntries(
      Object.keys(dependencies).map((one) => {
        const version = one.startsWith('@tandem/') ? (tarballs?.[one] ?? `^${versions['tandem']}`) : versions[one];
        if (version === undefined) throw new Error(`the template needs a version of ${one}`);
        return [one, version];
      }),
    );

  await mkdir(target, { recursive: true });
  await cp(inPackage(`templates/${template}`), target, { recursive: true });
  for (const [visible, hidden] of Object.entries(HIDDEN))
    await rename(path.join(target, visible), path.join(target, hidden)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  const made = {
    ...manifest,
    name,
    dependencies: versioned(manifest.dependencies),
    devDependencies: versioned(manifest.devDependencies),
    // packages depend on each other by version
    ...(tarballs && { overrides: tarballs }),
  };
  await writeFile(path.join(target, 'package.json'), `${JSON.stringify(made, null, 2)}\n`);
}
