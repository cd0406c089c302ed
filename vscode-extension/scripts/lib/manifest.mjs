// Keeps the part of package.json that is generated from the server's settings in step with them.
import fs from 'node:fs';
import path from 'node:path';
import { EXTENSION, Failure } from './run.mjs';

const MANIFEST = path.join(EXTENSION, 'package.json');
const GENERATED = path.join(EXTENSION, 'src/generated/configuration.json');

/** Settings of the extension alone: where its server is. They never come from a workspace. */
const OWN = {
  'chatls.server.path': { type: 'string', default: '', scope: 'machine', description: '%config.server.path%', order: 1 },
  'chatls.server.interpreter': { type: 'string', default: '', scope: 'machine', description: '%config.server.interpreter%', order: 2 },
};

/** package.json as it must be: hand-written parts kept, `contributes.configuration` and trust restrictions generated. */
export function manifestText() {
  const manifest = JSON.parse(fs.readFileSync(MANIFEST, 'utf8'));
  const generated = fs.existsSync(GENERATED) ? JSON.parse(fs.readFileSync(GENERATED, 'utf8')) : {};
  const properties = { ...OWN, ...(generated.properties ?? generated) };
  manifest.contributes.configuration = { title: 'ChatLS', properties };
  // What a machine scope already withholds from a workspace is listed as well: the reader sees it in one place.
  manifest.capabilities.untrustedWorkspaces.restrictedConfigurations = Object.keys(properties).filter((name) =>
    String(properties[name].scope ?? '').startsWith('machine'),
  );
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Writes package.json when it differs from what it must be. */
export function writeManifest() {
  const wanted = manifestText();
  if (fs.readFileSync(MANIFEST, 'utf8') !== wanted) fs.writeFileSync(MANIFEST, wanted);
}

/** Throws {@link Failure} when package.json was not regenerated after a change of the settings. */
export function checkManifest() {
  if (fs.readFileSync(MANIFEST, 'utf8') !== manifestText()) {
    throw new Failure('vscode-extension/package.json is out of step with src/generated/configuration.json; run npm run package.');
  }
}
