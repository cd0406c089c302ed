// Builds the extension: bundles, the Python wheel it carries, and the .vsix.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { EXTENSION, ROOT, run, say } from './run.mjs';
import { venvProgram } from './python.mjs';
import { digest, once } from './stamp.mjs';
import { writeManifest } from './manifest.mjs';

/** The extension's version, which is the project's. */
export function version() {
  return JSON.parse(fs.readFileSync(path.join(EXTENSION, 'package.json'), 'utf8')).version;
}

/** The packaged extension. */
export function vsixPath() {
  return path.join(EXTENSION, `chatls-${version()}.vsix`);
}

/** Bundles the extension host's and the webview's code into `dist/`. */
export async function bundle({ minify = true } = {}) {
  const esbuild = createRequire(path.join(EXTENSION, 'package.json'))('esbuild');
  const shared = { bundle: true, minify, sourcemap: false, legalComments: 'none', logLevel: 'silent', absWorkingDir: EXTENSION };
  fs.rmSync(path.join(EXTENSION, 'dist'), { recursive: true, force: true });
  await Promise.all([
    esbuild.build({
      ...shared,
      entryPoints: ['src/extension.ts'],
      outfile: 'dist/extension.js',
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      external: ['vscode'],
    }),
    esbuild.build({
      ...shared,
      entryPoints: { chat: 'src/webview/chat.ts', context: 'src/webview/context.ts', graph: 'src/webview/graph.ts' },
      outdir: 'dist',
      platform: 'browser',
      format: 'iife',
      target: 'es2022',
    }),
    esbuild.build({
      ...shared,
      entryPoints: { chat: 'src/webview/chat.css', context: 'src/webview/context.css', graph: 'src/webview/graph.css' },
      outdir: 'dist',
      loader: { '.ttf': 'file' },
      assetNames: '[name]',
    }),
  ]);
}

/** Puts the documentation for users where the extension shows it from. */
function bundleDocs() {
  const [source, target] = [path.join(ROOT, 'docs'), path.join(EXTENSION, 'dist', 'docs')];
  fs.mkdirSync(target, { recursive: true });
  for (const name of fs.readdirSync(source).filter((file) => file.endsWith('.md'))) {
    fs.copyFileSync(path.join(source, name), path.join(target, name));
  }
}

/** Puts the project's wheel where the extension carries it; it installs the server from there. */
async function bundleWheel() {
  const target = path.join(EXTENSION, 'dist', 'server');
  const built = path.join(ROOT, '.cache', 'wheel');
  const inputs = ['pyproject.toml', 'README.md', 'core', 'server'].map((name) => path.join(ROOT, name));
  await once(path.join(built, '.stamp'), digest(inputs), async () => {
    fs.rmSync(built, { recursive: true, force: true });
    await run(venvProgram('python'), ['-m', 'pip', 'wheel', '-q', '--disable-pip-version-check', '--no-deps', '-w', built, ROOT]);
  });
  fs.mkdirSync(target, { recursive: true });
  for (const name of fs.readdirSync(built).filter((file) => file.endsWith('.whl'))) {
    fs.copyFileSync(path.join(built, name), path.join(target, name));
  }
  fs.copyFileSync(path.join(ROOT, 'constraints.txt'), path.join(target, 'constraints.txt'));
}

/** Builds `vscode-extension/chatls-<version>.vsix` unless nothing changed since; gives its path. */
export async function buildVsix() {
  writeManifest();
  const names = ['src', 'media', 'l10n', 'scripts/lib', 'package.json', 'package.nls.json', 'package.nls.pt-br.json', '.vscodeignore'];
  const inputs = [
    ...names.map((name) => path.join(EXTENSION, name)),
    ...['pyproject.toml', 'constraints.txt', 'core', 'docs', 'server', 'package-lock.json'].map((name) => path.join(ROOT, name)),
  ];
  const vsix = vsixPath();
  const stamp = path.join(ROOT, '.cache', 'vsix.stamp');
  if (!fs.existsSync(vsix)) fs.rmSync(stamp, { force: true });
  await once(stamp, digest(inputs), async () => {
    say('Building the extension');
    await bundle();
    bundleDocs();
    await bundleWheel();
    fs.copyFileSync(path.join(ROOT, 'LICENSE'), path.join(EXTENSION, 'LICENSE'));
    const vsce = path.join(path.dirname(createRequire(path.join(EXTENSION, 'package.json')).resolve('@vscode/vsce/package.json')), 'vsce');
    await run(process.execPath, [vsce, 'package', '--no-dependencies', '--allow-missing-repository', '-o', vsix], { cwd: EXTENSION });
  });
  return vsix;
}
