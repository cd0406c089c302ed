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
  'git.openRepositoryInParentFolders': 'never',
};

/** Makes (or reuses) a profile in `root`; `settings` win over what is there. Gives arguments and environment. */
export function openProfile(root, settings = {}) {
  const folders = Object.fromEntries(
    ['extensions', 'data', 'config', 'share'].map((name) => [name, path.join(root, name)]),
  );
  for (const folder of Object.values(folders)) fs.mkdirSync(folder, { recursive: true });
  mergeSettings(path.join(folders.data, 'User', 'settings.json'), { ...QUIET, ...settings });
  // In a browser the editor's "machine" is the one the server runs on, and it has a settings file of its own.
  mergeSettings(path.join(folders.data, 'Machine', 'settings.json'), settings);
  const env = { ...process.env, XDG_CONFIG_HOME: folders.config, XDG_DATA_HOME: folders.share, EXTENSIONS_GALLERY: NO_GALLERY };
  for (const name of ['VSCODE_IPC_HOOK_CLI', 'PORT', 'PASSWORD', 'HASHED_PASSWORD']) delete env[name];
  const args = ['--extensions-dir', folders.extensions, '--user-data-dir', folders.data];
  return { args, env, data: folders.data };
}

function mergeSettings(file, settings) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  let present = {};
  try {
    present = JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    // A file with comments was edited by a person, who then sees to it.
    if (error instanceof SyntaxError) return;
    if (error.code !== 'ENOENT') throw error;
  }
  fs.writeFileSync(file, `${JSON.stringify({ ...present, ...settings }, null, 2)}\n`);
}
