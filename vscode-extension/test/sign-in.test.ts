import { beforeEach, describe, expect, it, vi } from 'vitest';

const editor = vi.hoisted(() => ({ choice: 'Copy Code and Open Browser' as string | undefined, copied: '', opened: '', cancel: () => {}, cancelled: false }));

vi.mock('vscode', () => ({
  l10n: { t: (text: string, ...values: unknown[]) => text.replace(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)])) },
  ProgressLocation: { Notification: 15 },
  Uri: { parse: (text: string) => text },
  env: {
    clipboard: { writeText: async (text: string) => void (editor.copied = text) },
    openExternal: async (url: string) => void (editor.opened = url),
  },
  window: {
    showInformationMessage: async () => editor.choice,
    withProgress: (_options: object, body: (progress: object, token: object) => Promise<unknown>) => {
      const token = {
        get isCancellationRequested() {
          return editor.cancelled;
        },
        onCancellationRequested: (listener: () => void) => {
          editor.cancel = () => {
            editor.cancelled = true;
            listener();
          };
        },
      };
      return body({}, token);
    },
  },
}));

const { signIn } = await import('../src/commands/sign-in');

describe('signing in', () => {
  let asked: object[] = [];
  let finish = { resolve: (_: object) => {}, reject: (_: Error) => {} };

  const run = (async (_command: string, args: { wait?: boolean }) => {
    asked.push(args);
    if (args.wait) return new Promise((resolve, reject) => (finish = { resolve, reject }));
    return { markdown: '', data: { title: 'GitHub Copilot', url: 'https://github.test/device', code: 'AB-12' } };
  }) as unknown as Parameters<typeof signIn>[0];

  beforeEach(() => {
    asked = [];
    Object.assign(editor, { choice: 'Copy Code and Open Browser', copied: '', opened: '', cancelled: false });
  });

  it('copies the code, opens the page and waits', async () => {
    const done = signIn(run, 'copilot');
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    expect([editor.copied, editor.opened]).toEqual(['AB-12', 'https://github.test/device']);
    finish.resolve({ markdown: '', data: {} });
    expect(await done).toBe(true);
    expect(asked).toEqual([{ provider: 'copilot' }, { provider: 'copilot', wait: true }]);
  });

  it('stops the sign-in when the user turns away', async () => {
    editor.choice = undefined;
    expect(await signIn(run, 'copilot')).toBe(false);
    expect(asked.at(-1)).toEqual({ provider: 'copilot', cancel: true });
    expect(editor.opened).toBe('');
  });

  it('stops it when the wait is cancelled, without an error', async () => {
    const done = signIn(run, 'copilot');
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    editor.cancel();
    finish.reject(new Error('The sign-in was stopped.'));
    expect(await done).toBe(false);
    expect(asked.at(-1)).toEqual({ provider: 'copilot', cancel: true });
  });

  it('lets a refusal be told', async () => {
    const done = signIn(run, 'copilot');
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    finish.reject(new Error('refused'));
    await expect(done).rejects.toThrow('refused');
  });
});
