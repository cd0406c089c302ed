// Finds Python and keeps the project's virtual environment up to date.
import fs from 'node:fs';
import path from 'node:path';
import { Failure, ROOT, run, say } from './run.mjs';
import { digest, once } from './stamp.mjs';

const VENV = path.join(ROOT, '.venv');
const BIN = path.join(VENV, process.platform === 'win32' ? 'Scripts' : 'bin');
const EXE = process.platform === 'win32' ? '.exe' : '';

/** A program of the project's virtual environment. */
export function venvProgram(name) {
  return path.join(BIN, name + EXE);
}

const PROBE = 'import sys; print("%d.%d" % sys.version_info[:2])';

/** The first Python 3.11 or newer: `CHATLS_PYTHON`, then the usual names on PATH. Throws {@link Failure} when none is. */
export async function findPython(environment = process.env) {
  const candidates = [
    ...(environment.CHATLS_PYTHON ? [[environment.CHATLS_PYTHON]] : []),
    ...['python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3', 'python'].map((name) => [name]),
    ...(process.platform === 'win32' ? [['py', '-3']] : []),
  ];
  const seen = [];
  for (const [command, ...args] of candidates) {
    const { code, output } = await run(command, [...args, '-c', PROBE], { check: false }).catch(() => ({ code: 127 }));
    if (code !== 0) continue;
    const [major, minor] = output.trim().split('.').map(Number);
    if (major === 3 && minor >= 11) return [command, ...args];
    seen.push(`${command} is ${output.trim()}`);
  }
  const found = seen.length ? ` (${seen.join(', ')})` : '';
  throw new Failure(
    `ChatLS needs Python 3.11 or newer${found}. Install it (python.org, or your system's package manager), ` +
      'or point CHATLS_PYTHON at one, and run the command again.',
  );
}

/** Makes `.venv` and installs the project with its development tools, unless that was done for this pyproject.toml. */
export async function ensureVenv() {
  const pyproject = path.join(ROOT, 'pyproject.toml');
  const constraints = path.join(ROOT, 'constraints.txt');
  const python = venvProgram('python');
  if (!fs.existsSync(python)) {
    const [command, ...args] = await findPython();
    say('Making the Python environment in .venv');
    await run(command, [...args, '-m', 'venv', VENV]).catch((error) => {
      fs.rmSync(VENV, { recursive: true, force: true });
      throw new Failure(`${error.message}\nOn Debian and Ubuntu the package python3-venv is needed for this.`);
    });
  }
  await once(path.join(VENV, '.chatls-stamp'), digest([pyproject, constraints]), async () => {
    say('Installing the Python packages (about half a minute the first time)');
    const pinned = fs.existsSync(constraints) ? ['-c', constraints] : [];
    await run(python, ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '-e', '.[dev]', ...pinned]);
  });
  return python;
}
