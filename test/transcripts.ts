import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The commands behind the markers of a name in a document, and what they print, in order. */
export function transcriptOf(document: string, name: string): { commands: string; printed: string } {
  const parts = document.split(`<!-- run ${name} -->`).slice(1);
  const blocks = parts.map((part) => [...part.matchAll(/```\w*\n([\s\S]*?)```/g)].map(([, block]) => block ?? ''));
  return { commands: blocks.map(([first]) => first).join('\n'), printed: blocks.map(([, second]) => second).join('') };
}

/** What commands print, run in a folder; the first that fails ends them. */
export async function runCommands(commands: string, cwd: string): Promise<string> {
  const child = spawn('bash', ['-euc', commands], { cwd, stdio: ['ignore', 'pipe', 'inherit'], timeout: 55_000 });
  let out = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  await once(child, 'close');
  return out;
}
