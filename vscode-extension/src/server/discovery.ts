/** Finds the server: what the user configured, a `chatls` on PATH, or the environment the extension made itself. */

import * as fs from 'node:fs';
import * as path from 'node:path';
import { execFile } from 'node:child_process';

/** How to start the server. */
export interface ServerCommand {
  command: string;
  args: string[];
  source: 'path setting' | 'interpreter setting' | 'PATH' | 'own environment';
}

export interface DiscoveryInput {
  /** `chatls.server.path` */
  path: string;
  /** `chatls.server.interpreter` */
  interpreter: string;
  environment: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  /** The `chatls` of the extension's own environment, when that is complete. */
  own: string | undefined;
  /** Milliseconds a `chatls --version` may take. */
  timeout?: number;
}

/** No usable server. The English sentence is a template, so that whoever shows it can translate it. */
export class NoServerError extends Error {
  readonly values: string[];

  constructor(
    readonly template: string,
    ...values: string[]
  ) {
    super(template.replace(/\{(\d+)\}/g, (whole, index: string) => values[Number(index)] ?? whole));
    this.values = values;
  }
}

/** The arguments that make the server talk on its standard input and output. */
const SERVE = ['serve'];

/**
 * The server to start, or undefined when none is installed yet.
 *
 * A setting that points nowhere is an error rather than a reason to try the next place: the user asked for that one.
 */
export async function findServer(input: DiscoveryInput): Promise<ServerCommand | undefined> {
  if (input.path) {
    if (!isFile(input.path)) throw new NoServerError('The setting {0} names {1}, which is not a file.', 'chatls.server.path', input.path);
    return { command: input.path, args: SERVE, source: 'path setting' };
  }
  if (input.interpreter) {
    const { interpreter } = input;
    if (!isFile(interpreter)) {
      throw new NoServerError('The setting {0} names {1}, which is not a file.', 'chatls.server.interpreter', interpreter);
    }
    // -P keeps the workspace, which is the working directory, out of the import path.
    return { command: interpreter, args: ['-P', '-m', 'chatls_server.cli', ...SERVE], source: 'interpreter setting' };
  }
  for (const candidate of onPath('chatls', input.environment, input.platform)) {
    if (await answers(candidate, ['--version'], input.timeout ?? 15_000)) {
      return { command: candidate, args: SERVE, source: 'PATH' };
    }
  }
  return input.own ? { command: input.own, args: SERVE, source: 'own environment' } : undefined;
}

/** A Python 3.11 or newer on PATH, for the extension's own environment. */
export async function findPython(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): Promise<string | undefined> {
  const names = ['python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3', 'python'];
  const check = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))';
  for (const name of names) {
    for (const candidate of onPath(name, environment, platform)) {
      if (await answers(candidate, ['-c', check], 15_000)) return candidate;
    }
  }
  return undefined;
}

/** Every file called `name` on PATH, in order. */
export function onPath(name: string, environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): string[] {
  const value = environment.PATH ?? environment.Path ?? '';
  const separator = platform === 'win32' ? ';' : ':';
  const endings = platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  return value
    .split(separator)
    .filter((folder) => folder !== '' && path.isAbsolute(folder))
    .flatMap((folder) => endings.map((ending) => path.join(folder, name + ending)))
    .filter(isFile);
}

function isFile(file: string): boolean {
  return fs.statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Whether a program starts and ends well; a broken one (its environment was deleted, say) does not count. */
function answers(command: string, args: string[], timeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout, windowsHide: true }, (error) => resolve(error === null));
  });
}
