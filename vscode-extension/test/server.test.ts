import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Backoff, DELAYS, STEADY_MS } from '../src/server/backoff';
import { findServer, NoServerError, onPath, type DiscoveryInput } from '../src/server/discovery';
import { completeProgram, installServer, NoPythonError } from '../src/server/install';
import { withoutSecrets } from '../src/server/output';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'chatls-test-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program in the test's folder. */
function program(name: string, script: string): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

const input = (extra: Partial<DiscoveryInput> = {}): DiscoveryInput => ({
  path: '',
  interpreter: '',
  environment: { PATH: folder },
  platform: 'linux',
  own: undefined,
  ...extra,
});

describe('finding the server', () => {
  it('a configured program goes before everything', async () => {
    program('chatls', 'exit 0');
    const mine = program('mine', 'exit 0');
    expect(await findServer(input({ path: mine, own: '/own' }))).toMatchObject({ command: mine, args: ['serve'] });
  });

  it('a setting that points nowhere is an error, not a reason to look elsewhere', async () => {
    program('chatls', 'exit 0');
    await expect(findServer(input({ path: '/nowhere/chatls' }))).rejects.toThrow(NoServerError);
    await expect(findServer(input({ interpreter: '/nowhere/python' }))).rejects.toThrow('chatls.server.interpreter');
  });

  it('an interpreter keeps the workspace out of its import path', async () => {
    const python = program('python', 'exit 0');
    const found = await findServer(input({ interpreter: python }));
    expect(found!.args[0]).toBe('-P');
  });

  it('the one on PATH counts only if it starts', async () => {
    const broken = program('a/chatls', 'exit 1');
    const good = program('b/chatls', 'test "$1" = --version');
    const environment = { PATH: `${path.dirname(broken)}:${path.dirname(good)}` };
    expect(await findServer(input({ environment }))).toMatchObject({ command: good, source: 'PATH' });
    expect(await findServer(input({ environment: { PATH: path.dirname(broken) }, own: '/own/chatls' }))).toMatchObject({ source: 'own environment' });
    expect(await findServer(input({ environment: { PATH: '' } }))).toBeUndefined();
  });

  it('relative entries of PATH are not searched: they are the workspace’s', () => {
    expect(onPath('chatls', { PATH: `.:bin:${folder}` }, 'linux')).toEqual([]);
    program('chatls', 'exit 0');
    expect(onPath('chatls', { PATH: `.:bin:${folder}` }, 'linux')).toEqual([path.join(folder, 'chatls')]);
  });
});

describe('installing the server', () => {
  const install = (extra: object = {}) =>
    installServer({
      storage: path.join(folder, 'storage'),
      bundled: path.join(folder, 'bundled'),
      version: '1.0',
      environment: { PATH: path.join(folder, 'bin') },
      platform: 'linux',
      report: () => undefined,
      log: () => undefined,
      ...extra,
    });

  it('says when there is no Python', async () => {
    await expect(install()).rejects.toThrow(NoPythonError);
  });

  it('says when the extension was built without a server', async () => {
    program('bin/python3', 'exit 0');
    await expect(install()).rejects.toThrow('without its server');
  });

  it('an installation that fails says why and does not count', async () => {
    // "python -m venv DIR" makes DIR/bin/python, which then fails as pip does without a network.
    program('bin/python3.14', 'if [ "$2" = venv ]; then mkdir -p "$3/bin"; printf "#!/bin/sh\\necho no network >&2; exit 1\\n" > "$3/bin/python"; /bin/chmod +x "$3/bin/python"; printf x > "$3/bin/chatls"; fi');
    mkdirSync(path.join(folder, 'bundled'));
    writeFileSync(path.join(folder, 'bundled', 'chatls-1.0-py3-none-any.whl'), '');
    const environment = { PATH: `${path.join(folder, 'bin')}:/usr/bin:/bin` };
    await expect(install({ environment })).rejects.toThrow('no network');
    expect(completeProgram(path.join(folder, 'storage'), '1.0', 'linux')).toBeUndefined();
  });

  it('reports its steps, keeps only the newest environment, and is found afterwards', async () => {
    program('bin/python3.14', 'if [ "$2" = venv ]; then mkdir -p "$3/bin"; printf "#!/bin/sh\\nprintf x > \\"\\$(dirname \\"\\$0\\")/chatls\\"\\n" > "$3/bin/python"; /bin/chmod +x "$3/bin/python"; fi');
    mkdirSync(path.join(folder, 'bundled'));
    writeFileSync(path.join(folder, 'bundled', 'chatls-1.0-py3-none-any.whl'), '');
    mkdirSync(path.join(folder, 'storage', 'server-0.9'), { recursive: true });
    const steps: string[] = [];
    const environment = { PATH: `${path.join(folder, 'bin')}:/usr/bin:/bin` };
    const made = await install({ environment, report: (step: string) => steps.push(step) });
    expect(steps).toEqual(['environment', 'packages']);
    expect(completeProgram(path.join(folder, 'storage'), '1.0', 'linux')).toBe(made);
    expect(completeProgram(path.join(folder, 'storage'), '0.9', 'linux')).toBeUndefined();
  });
});

describe('restarting', () => {
  it('is tried three times with longer waits, and afresh after a good run', () => {
    const backoff = new Backoff();
    expect([backoff.next(10), backoff.next(10), backoff.next(10), backoff.next(10)]).toEqual([...DELAYS, undefined]);
    expect(backoff.next(STEADY_MS)).toBe(DELAYS[0]);
  });
});

describe('tracing', () => {
  it('never shows a key', () => {
    const lines: string[] = [];
    const channel = withoutSecrets({ trace: (line: string) => lines.push(line), logLevel: 1 } as never);
    channel.trace("Sending notification 'chatls/secrets'. Params: {\"anthropic\": \"sk-secret\"}");
    channel.trace("Sending request 'chatls/chat'.");
    expect(lines.join('\n')).not.toContain('sk-secret');
    expect(lines).toHaveLength(2);
    expect(channel.logLevel).toBe(1);
  });
});
