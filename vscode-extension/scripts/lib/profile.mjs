// An isolated VS Code profile: its own extensions, settings and state, nothing of the user's.
import fs from 'node:fs';
import path from 'node:path';

/** Extension galleries are looked up on a loopback port that answers nothing: no call leaves the machine. */
const NO_GALLERY = JSON.stringify({
  serviceUrl: 'http://127.0.0.1:9/',
  itemUrl: 'http://127.0.0.1:9/',
  resourceUrlTemplate: 'http://127.0.0.1:9/',
});

const QUIET = {
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
};

/** Makes (or reuses) a profile in `root`; `settings` win over what is there. Gives arguments and environment. */
export function openProfile(root, settings = {}) {
  const folders = Object.fromEntries(
    ['extensions', 'data', 'config', 'share'].map((name) => [name, path.join(root, name)]),
  );
  for (const folder of [...Object.values(folders), path.join(folders.data, 'User')]) fs.mkdirSync(folder, { recursive: true });
  const file = path.join(folders.data, 'User', 'settings.json');
  let present = {};
  try {
    present = JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    // Settings a person has commented are theirs: only what is ours in a plain file is rewritten.
    if (error.code !== 'ENOENT') present = undefined;
  }
  if (present) fs.writeFileSync(file, `${JSON.stringify({ ...QUIET, ...present, ...settings }, null, 2)}\n`);
  const env = { ...process.env, XDG_CONFIG_HOME: folders.config, XDG_DATA_HOME: folders.share, EXTENSIONS_GALLERY: NO_GALLERY };
  for (const name of ['VSCODE_IPC_HOOK_CLI', 'PORT', 'PASSWORD', 'HASHED_PASSWORD']) delete env[name];
  const args = ['--extensions-dir', folders.extensions, '--user-data-dir', folders.data];
  return { args, env, data: folders.data };
}
