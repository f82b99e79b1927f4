import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { format, resolveConfig } from 'prettier';

const TEMPLATES = fileURLToPath(new URL('templates', import.meta.url));
const SOURCES = fileURLToPath(new URL('../src', import.meta.url));
const NAME = /^[a-z]+(-[a-z]+)*$/;

/** @param {string} files a name in kebab case: `gift-cards` */
const camel = (files) => files.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** One of many: `reviews`, `categories`. @param {string} files */
function singularOf(files) {
  if (files.endsWith('ies')) return `${files.slice(0, -3)}y`;
  return files.replace(/s$/, '');
}

/**
 * Lays the folder of a service: model, list, router, errors and test, ready to be changed.
 * @param {string} files what it keeps, in the plural and in kebab case: `reviews`, `gift-cards`
 * @param {string} file one of these, where that is not the plural without `s`
 * @param {string} folder in which the service's folder is created
 * @returns {Promise<string[]>} the files, relative to `folder`
 * @throws Error for a name that cannot be used
 */
export async function layService(files, file = singularOf(files), folder = SOURCES) {
  if (!NAME.test(files) || !NAME.test(file) || file === files)
    throw new Error(
      `name the service in the plural and in kebab case, such as reviews or gift-cards: npm run new -- ${files} <singular>`,
    );
  const target = path.join(folder, files);
  if (existsSync(target)) throw new Error(`there is a service ${files} already: ${target}`);
  const words = file.replaceAll('-', ' ');
  const plural = files.replaceAll('-', ' ');
  /** @type {Record<string, string>} */
  const values = {
    files,
    file,
    many: camel(files),
    one: camel(file),
    Many: capital(camel(files)),
    One: capital(camel(file)),
    words,
    Words: capital(words),
    plural,
    Plural: capital(plural),
  };
  const names = { 'model.ts': `${file}.model.ts`, 'service-definition.ts': `${files}.ts` };
  const laying = (await readdir(TEMPLATES)).map(async (template) => {
    const kind = path.basename(template, '.tpl');
    const name = names[/** @type {keyof typeof names} */ (kind)] ?? `${files}.${kind}`;
    const text = await readFile(path.join(TEMPLATES, template), 'utf8');
    const code = text.replaceAll(/\{\{(\w+)\}\}/g, (_, key) => values[key] ?? '');
    // where lines break depends on the length of the names
    const options = { ...(await resolveConfig(path.join(SOURCES, name))), filepath: name };
    return { name, code: await format(code, options) };
  });
  const laid = await Promise.all(laying).catch((error) => {
    const problem = `its code does not parse, as where ${values['one']} is a word of the language`;
    throw new Error(`choose another name than ${files}: ${problem}`, { cause: error });
  });
  await mkdir(target);
  return Promise.all(
    laid.map(async ({ name, code }) => {
      await writeFile(path.join(target, name), code);
      return path.join(files, name);
    }),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [files = '', file] = process.argv.slice(2);
  try {
    for (const name of await layService(files, file)) console.log(`packages/services/src/${name}`);
    console.log(`\nNow add ${camel(files)} to packages/services/src/all-services.ts, then run
  UPDATE_DOCUMENTS=1 npx vitest run test/documents
  npm run check
  npx vitest run packages/services/src/${files}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
