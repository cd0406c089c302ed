// npm start [-- FOLDER]: a real VS Code in the browser with ChatLS in it, on loopback, behind a one-time password.
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { buildVsix } from './lib/build.mjs';
import { ensureCodeServer, nodePackage } from './lib/codeserver.mjs';
import { ensureModel } from './lib/model.mjs';
import { ensureNodeModules } from './lib/node.mjs';
import { openProfile } from './lib/profile.mjs';
import { ensureVenv, venvProgram } from './lib/python.mjs';
import { CACHE, EXTENSION, Failure, killTree, main, run, say, start } from './lib/run.mjs';
import { digest, once } from './lib/stamp.mjs';

const PROFILE = path.join(CACHE, 'profile');
const PREFERRED_PORT = Number(process.env.CHATLS_PORT) || 8437;

/** The folder to open: the one that was named, else a copy of the sample that the user may do anything to. */
function workspace() {
  const named = process.argv[2];
  if (named) {
    const folder = path.resolve(process.env.INIT_CWD ?? '.', named);
    if (!fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new Failure(`${folder} is not a folder.`);
    return folder;
  }
  const sample = path.join(CACHE, 'sample');
  if (!fs.existsSync(sample)) fs.cpSync(path.join(EXTENSION, 'sample'), sample, { recursive: true });
  return sample;
}

/** The preferred loopback port, or any free one when it is taken. */
async function freePort(preferred) {
  const listen = (port) =>
    new Promise((resolve) => {
      const server = net.createServer();
      server.once('error', () => resolve(undefined));
      server.listen(port, '127.0.0.1', () => {
        const { port: bound } = server.address();
        server.close(() => resolve(bound));
      });
    });
  return (await listen(preferred)) ?? (await listen(0));
}

/** Installs the .vsix into the profile unless this very file is installed. */
async function installExtension(command, prefix, profile, vsix) {
  await once(path.join(PROFILE, '.extension'), digest([vsix]), async () => {
    say('Installing the extension into its own profile');
    await run(command, [...prefix, ...profile.args, '--install-extension', vsix, '--force'], { env: profile.env });
  });
}

async function serveBrowser(vsix, profile) {
  const { node, entry } = await ensureCodeServer();
  await installExtension(node, [entry], profile, vsix);
  const port = await freePort(PREFERRED_PORT);
  const password = randomBytes(12).toString('base64url');
  const log = path.join(PROFILE, 'code-server.log');
  const output = fs.openSync(log, 'w', 0o600);
  say('Starting the editor');
  const flags = ['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'];
  // The sample is ours, so the question whether to trust it would only be in the way; any other folder is asked about.
  if (!process.argv[2]) flags.push('--disable-workspace-trust');
  const server = start(node, [entry, ...profile.args, '--auth', 'password', '--bind-addr', `127.0.0.1:${port}`, ...flags], {
    env: { ...profile.env, PASSWORD: password },
    stdio: ['ignore', output, output],
  });
  const ended = new Promise((resolve) => server.once('close', resolve));
  const address = `http://127.0.0.1:${port}`;
  await healthy(address, server, log);
  const folder = workspace();
  process.stdout.write(`
  ChatLS is ready.

    Address   ${address}/?folder=${encodeURI(folder)}
    Password  ${password}   (new at every start)
    Folder    ${folder}

  Press Ctrl+C to stop.

`);
  await ended;
}

/** Waits until code-server answers; says what its log ends with when it does not. */
async function healthy(address, server, log) {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (server.exitCode !== null || server.signalCode !== null) break;
    const answer = await fetch(`${address}/healthz`).catch(() => undefined);
    if (answer?.ok) return;
    await wait(100);
  }
  killTree(server);
  throw new Failure(`The editor did not start. Its log ends with:\n${fs.readFileSync(log, 'utf8').trim().split('\n').slice(-15).join('\n')}`);
}

async function openDesktop(vsix, profile) {
  const code = process.platform === 'win32' ? 'code.cmd' : 'code';
  const { code: status } = await run(code, ['--version'], { check: false }).catch(() => ({ code: 127 }));
  if (status !== 0) {
    throw new Failure(
      `There is no browser editor for ${process.platform}-${process.arch} and no desktop VS Code on PATH. ` +
        `Install VS Code with its "code" command, or install ${path.basename(vsix)} into an editor of your own.`,
    );
  }
  await installExtension(code, [], profile, vsix);
  say('Opening desktop VS Code; close its window to stop');
  await run(code, [...profile.args, '--new-window', '--wait', workspace()], { env: profile.env });
}

main(async () => {
  await ensureVenv();
  await ensureNodeModules();
  await ensureModel();
  const vsix = await buildVsix();
  const profile = openProfile(PROFILE, { 'chatls.server.path': venvProgram('chatls') });
  await (nodePackage() ? serveBrowser(vsix, profile) : openDesktop(vsix, profile));
});
