// Runs child processes and says in words what is being done and what went wrong. Node built-ins only.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root folder. */
export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
/** The extension's folder. */
export const EXTENSION = path.join(ROOT, 'vscode-extension');
/** Downloads and generated state that a second run reuses; git-ignored. */
export const CACHE = path.join(ROOT, '.cache');

/** A failure whose message is all the reader needs; no stack is printed for it. */
export class Failure extends Error {}

/** Children that still run; {@link stopAll} ends them with the script. */
const running = new Set();

/** Ends every child process group that a script of ours started. */
export function stopAll(signal = 'SIGTERM') {
  for (const child of running) {
    killTree(child, signal);
  }
}

/** Ends a child that was started `detached`, together with everything it started. */
export function killTree(child, signal = 'SIGTERM') {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (process.platform === 'win32') spawn('taskkill', ['/pid', String(child.pid), '/T', '/F'], { stdio: 'ignore' });
    else process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Whether `npm` and friends need a shell to be found on this platform. */
const shell = process.platform === 'win32';

/** Starts a long-lived child in a process group of its own. */
export function start(command, args, options = {}) {
  const child = spawn(command, args, { cwd: ROOT, detached: !shell, ...options });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/**
 * Runs a command to its end and gives its output (stdout and stderr together, UTF-8).
 *
 * `show` also prints it as it comes. Throws {@link Failure} with the end of the output when the command fails and
 * `check` is not false.
 */
export async function run(command, args, { show = false, check = true, cwd = ROOT, env = process.env } = {}) {
  const child = start(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], shell: shell && command === 'npm' });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (chunk) => {
      output += chunk;
      if (show) process.stdout.write(chunk);
    });
  }
  const code = await new Promise((resolve, reject) => {
    child.once('error', (error) =>
      reject(new Failure(error.code === 'ENOENT' ? `${command} was not found on PATH.` : `${command}: ${error.message}`)),
    );
    child.once('close', (status, signal) => resolve(status ?? signal));
  });
  if (code !== 0 && check) {
    const shown = show ? '' : `\n${output.trim().split('\n').slice(-25).join('\n')}`;
    throw new Failure(`"${[path.basename(command), ...args].join(' ')}" ended with ${code}.${shown}`);
  }
  return { code, output };
}

/** Prints one step of progress. */
export function say(text) {
  process.stdout.write(`» ${text}\n`);
}

/** Runs a script's main function: failures in one sentence, no process left behind. */
export function main(body) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      stopAll();
      process.exitCode = signal === 'SIGINT' ? 130 : 143;
      // A child that ignores SIGTERM gets no second chance; unref'd so that a clean stop does not wait for it.
      setTimeout(() => {
        stopAll('SIGKILL');
        process.exit();
      }, 3000).unref();
    });
  }
  if (Number(process.versions.node.split('.')[0]) < 20) {
    process.stderr.write(`ChatLS needs Node 20 or newer; this is Node ${process.versions.node}.\n`);
    process.exit(1);
  }
  body().catch((error) => {
    stopAll();
    process.stderr.write(`\n✗ ${error instanceof Failure ? error.message : (error.stack ?? error)}\n`);
    process.exitCode = process.exitCode || 1;
  });
}
