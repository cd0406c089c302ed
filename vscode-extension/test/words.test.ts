import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { manifestText } from '../scripts/lib/manifest.mjs';
import { shownStrings } from '../scripts/lib/strings.mjs';
import { withoutRemoteContent } from '../src/commands/results';
import { serverCommands } from '../src/commands/server-commands';
import { describe as describeStatus } from '../src/status';

const read = (name: string) => readFileSync(path.join(__dirname, '..', name), 'utf8');
const json = (name: string) => JSON.parse(read(name)) as Record<string, string>;
const manifest = JSON.parse(read('package.json'));
const placeholders = (text: string) => (text.match(/\{\d+\}/g) ?? []).sort();

describe('translations', () => {
  it('cover every text the extension shows, and no other', () => {
    expect(Object.keys(json('l10n/bundle.l10n.pt-br.json')).sort()).toEqual(shownStrings());
  });

  it('keep the placeholders', () => {
    for (const [english, portuguese] of Object.entries(json('l10n/bundle.l10n.pt-br.json'))) {
      expect(placeholders(portuguese), english).toEqual(placeholders(english));
    }
  });

  it('cover every text of the manifest', () => {
    const english = json('package.nls.json');
    const used = new Set([...read('package.json').matchAll(/"%([\w.]+)%"/g)].map((match) => match[1]!));
    expect(Object.keys(english).sort()).toEqual([...used].sort());
    expect(Object.keys(json('package.nls.pt-br.json')).sort()).toEqual(Object.keys(english).sort());
  });
});

describe('the manifest', () => {
  it('is in step with the settings of the server', () => {
    expect(read('package.json')).toBe(manifestText());
  });

  it('keeps its commands apart from the server’s, and each has a body', () => {
    const sources = ['extension', 'commands/memory', 'commands/sessions', 'commands/selection', 'review/reviews', 'views/instructions', 'views/memory', 'views/memory-items', 'views/graph', 'views/context'].map((name) => read(`src/${name}.ts`)).join('\n');
    const table = new Set(serverCommands((text) => text).map((entry) => `chatls.ui.${entry.id}`));
    for (const { command } of manifest.contributes.commands) {
      expect(command).toMatch(/^chatls\.ui\./);
      expect(table.has(command) || sources.includes(`'${command}'`), command).toBe(true);
    }
    for (const command of table) expect(manifest.contributes.commands).toContainEqual(expect.objectContaining({ command }));
  });

  it('leaves endpoints, interpreters and review out of a workspace’s reach', () => {
    const { restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
    for (const name of ['chatls.server.path', 'chatls.server.interpreter', 'chatls.edits.review', 'chatls.providers']) {
      expect(restrictedConfigurations).toContain(name);
      expect(manifest.contributes.configuration.properties[name].scope).toBe('machine');
    }
  });
});

describe('results', () => {
  it('fetch nothing when they are previewed', () => {
    const safe = withoutRemoteContent('![x](https://e.org/a.png) <img src="https://e.org/b.png"> <IFRAME src=x> text < 3');
    expect(safe).not.toMatch(/!\[|<img|<iframe/i);
    expect(safe).toContain('text < 3');
    expect(withoutRemoteContent('\\<img src=x>'), 'is text already').toBe('\\<img src=x>');
  });

});

describe('the status bar', () => {
  const status = { state: 'ready', provider: 'anthropic', model: 'claude-x', window: 200_000, used: 24_000 };

  it('says who answers, how full the window is, and the state', () => {
    expect(describeStatus({ state: 'ready' }, status).text).toBe('$(sparkle) claude-x · 12 % · ready');
    expect(describeStatus({ state: 'answering' }, status).text).toContain('answering');
    expect(describeStatus({ state: 'waiting' }, status).text).toContain('waiting for you');
  });

  it('names what is wrong and leads to what to do', () => {
    expect(describeStatus({ state: 'failed', message: 'No Python.' }, status)).toMatchObject({ tooltip: 'No Python.', error: true, command: 'chatls.ui.trouble' });
    expect(describeStatus({ state: 'ready' }, { ...status, provider: 'local' }).text).toContain('offline model');
  });
});
