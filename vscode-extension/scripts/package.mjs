// npm run package: leaves vscode-extension/chatls-<version>.vsix, which installs into any VS Code.
import path from 'node:path';
import { buildVsix } from './lib/build.mjs';
import { ensureNodeModules } from './lib/node.mjs';
import { ensureVenv } from './lib/python.mjs';
import { main, ROOT, say } from './lib/run.mjs';

main(async () => {
  await ensureVenv();
  await ensureNodeModules();
  const vsix = await buildVsix();
  say(`Built ${path.relative(ROOT, vsix)}; install it with: code --install-extension ${path.relative(ROOT, vsix)}`);
});
