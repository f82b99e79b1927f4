import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The commands after the markers of a name in a document, and their output, in order. */
export function transcriptOf(document: string, name: string): { commands: string; printed: string } {
  const parts = document.split(`<!-- run ${name} -->`).slice(1);
  const blocks = parts.map((part) => [...part.matchAll(/```\w*\n([\s\S]*?)```/g)].map(([, block]) => block ?? ''));
  return { commands: blocks.map(([first]) => first).join('\n'), printed: blocks.map(([, second]) => second).join('') };
}

/** The output of commands run in a folder; the first failure ends them. */
export async function runCommands(commands: string, cwd: string): Promise<string> {
  const child = spawn('bash', ['-euc', commands], { cwd, stdio: ['ignore', 'pipe', 'inherit'], timeout: 55_000 });
  let out = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  await once(child, 'close');
  return out;
}
