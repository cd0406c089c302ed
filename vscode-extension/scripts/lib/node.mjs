// Keeps node_modules up to date with the lock file.
import path from 'node:path';
import { ROOT, run, say } from './run.mjs';
import { digest, once } from './stamp.mjs';

/** Runs `npm ci` unless node_modules was installed from this lock file. */
export async function ensureNodeModules() {
  const manifests = ['package.json', 'package-lock.json'].map((name) => path.join(ROOT, name));
  const stamp = path.join(ROOT, 'node_modules', '.chatls-stamp');
  const installed = await once(stamp, digest(manifests, process.platform, process.arch), async () => {
    say('Installing the Node packages');
    await run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--no-progress']);
  });
  return installed;
}
