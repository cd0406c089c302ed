/** Makes the extension's own environment for the server, from the wheel inside the extension. */

import * as fs from 'node:fs';
import * as path from 'node:path';
import { spawn } from 'node:child_process';
import { findPython, NoServerError } from './discovery';

export interface InstallInput {
  /** The extension's storage folder. */
  storage: string;
  /** The folder inside the extension with the wheel and the constraints. */
  bundled: string;
  version: string;
  environment: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  /** A line of progress. */
  report(step: 'environment' | 'packages'): void;
  log(line: string): void;
  signal?: AbortSignal;
}

/** There is no Python to install with. */
export class NoPythonError extends NoServerError {}

/** The `chatls` program of the extension's own environment for this version, when it was installed completely. */
export function completeProgram(storage: string, version: string, platform: NodeJS.Platform): string | undefined {
  const program = ownProgram(storage, version, platform);
  return fs.existsSync(path.join(environmentFolder(storage, version), MARKER)) && fs.existsSync(program) ? program : undefined;
}

/** Written last: an environment without it was interrupted. */
const MARKER = '.complete';

function ownProgram(storage: string, version: string, platform: NodeJS.Platform): string {
  return path.join(environmentFolder(storage, version), ...(platform === 'win32' ? ['Scripts', 'chatls.exe'] : ['bin', 'chatls']));
}

function environmentFolder(storage: string, version: string): string {
  return path.join(storage, `server-${version}`);
}

/**
 * Installs the server and gives its program. An environment that is not complete is never left under its final name,
 * so a window that is closed in the middle costs only time.
 *
 * Raises {@link NoPythonError} without Python 3.11, {@link NoServerError} when the installation fails.
 */
export async function installServer(input: InstallInput): Promise<string> {
  const python = await findPython(input.environment, input.platform);
  if (!python) {
    throw new NoPythonError('ChatLS needs Python 3.11 or newer, and none was found on PATH.');
  }
  const wheel = fs.existsSync(input.bundled) ? fs.readdirSync(input.bundled).find((name) => name.endsWith('.whl')) : undefined;
  if (!wheel) throw new NoServerError('This extension was built without its server. Install chatls yourself, or install the extension again.');
  const target = environmentFolder(input.storage, input.version);
  const program = ownProgram(input.storage, input.version, input.platform);
  // Programs of a virtual environment hold its path, so it is made in place and counts only with its marker.
  fs.rmSync(target, { recursive: true, force: true });
  fs.mkdirSync(input.storage, { recursive: true });
  input.report('environment');
  await run(python, ['-m', 'venv', target], input);
  input.report('packages');
  const inner = path.join(path.dirname(program), input.platform === 'win32' ? 'python.exe' : 'python');
  const constraints = path.join(input.bundled, 'constraints.txt');
  const pinned = fs.existsSync(constraints) ? ['-c', constraints] : [];
  await run(inner, ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', ...pinned, path.join(input.bundled, wheel)], input);
  fs.writeFileSync(path.join(target, MARKER), input.version);
  removeOlder(input.storage, path.basename(target));
  return program;
}

/** Environments of earlier versions are of no use once this one is complete. */
function removeOlder(storage: string, keep: string): void {
  for (const name of fs.readdirSync(storage)) {
    if (name.startsWith('server-') && name !== keep) fs.rmSync(path.join(storage, name), { recursive: true, force: true });
  }
}

function run(command: string, args: string[], input: InstallInput): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...input.environment, PYTHONNOUSERSITE: '1' },
      ...(input.signal ? { signal: input.signal } : {}),
    });
    let last = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => {
        for (const line of text.split(/\r?\n/).filter(Boolean)) {
          input.log(line);
          last = line;
        }
      });
    }
    child.once('error', (error) => reject(new NoServerError('Installing the server failed: {0}', error.message)));
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new NoServerError('Installing the server failed: {0}', last || `${path.basename(command)}: ${code}`));
    });
  });
}
