import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { CreationError, TEMPLATES, createProject, type Template } from './create-project.js';

const USAGE = 'npm create tandem <folder> [-- --template host|web] [--packages <folder with tarballs>]';

const isTemplate = (name: string): name is Template => Object.hasOwn(TEMPLATES, name);

function parse() {
  try {
    const options = { template: { type: 'string' }, packages: { type: 'string' }, help: { type: 'boolean' } } as const;
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new CreationError(`${(error as Error).message}. Usage: ${USAGE}`);
  }
}

/** Asks in a terminal, and else takes the first one. */
async function chooseTemplate(): Promise<Template> {
  if (!process.stdin.isTTY) return 'host';
  const question = createInterface({ input: process.stdin, output: process.stdout });
  try {
    for (const [name, description] of Object.entries(TEMPLATES)) console.log(`  ${name.padEnd(6)} ${description}`);
    for (;;) {
      const answer = (await question.question('Which template? (host) ')).trim() || 'host';
      if (isTemplate(answer)) return answer;
    }
  } finally {
    question.close();
  }
}

async function run(): Promise<void> {
  const { values, positionals } = parse();
  const [folder, ...others] = positionals;
  if (values.help) return console.log(USAGE);
  if (folder === undefined || others.length > 0) throw new CreationError(`name one folder: ${USAGE}`);
  if (values.template !== undefined && !isTemplate(values.template))
    throw new CreationError(`there is no template "${values.template}": choose ${Object.keys(TEMPLATES).join(' or ')}`);
  const template = values.template ?? (await chooseTemplate());
  const target = path.resolve(folder);
  await createProject(target, { template, ...(values.packages !== undefined && { packages: path.resolve(values.packages) }) });
  console.log(
    `Made ${target} from the template ${template}. Now:\n\n  cd ${path.relative('', target) || '.'}\n  npm install\n  npm start`,
  );
}

/** Creates a project as the command line says. */
export async function main(): Promise<void> {
  try {
    await run();
  } catch (error) {
    console.error(error instanceof CreationError ? error.message : error);
    process.exitCode = 1;
  }
}
