import { beforeEach, describe, expect, it, vi } from 'vitest';

const set: Record<string, number | null> = {};
const written: unknown[] = [];
let typed: string | undefined;
let complaint: string | undefined;

vi.mock('vscode', async () => ({
  ...(await import('./vscode-stub')),
  ConfigurationTarget: { Global: 1, Workspace: 2, WorkspaceFolder: 3 },
  window: {
    showQuickPick: async (items: { budget: string }[]) => items[1],
    showInputBox: async (options: { validateInput(text: string): string | undefined }) => {
      complaint = typed === undefined ? undefined : options.validateInput(typed);
      return complaint ? undefined : typed;
    },
  },
  workspace: {
    getConfiguration: () => ({
      get: (name: string) => set[name] ?? null,
      inspect: (name: string) => ({ workspaceValue: name === 'sessionUsd' ? set[name] : undefined }),
      update: async (...values: unknown[]) => void written.push(values),
    }),
  },
}));

const { raiseBudget } = await import('../src/budget');

beforeEach(() => {
  for (const name of Object.keys(set)) delete set[name];
  written.length = 0;
  complaint = undefined;
});

describe('raising a budget', () => {
  it('writes the one that is set, and waits until the server has it', async () => {
    set.dailyUsd = 2;
    typed = '3,5';
    let taken = () => undefined as void;
    const done = raiseBudget(() => new Promise((resolve) => (taken = resolve)));
    await vi.waitFor(() => expect(written).toEqual([['dailyUsd', 3.5, 1]]));
    taken();
    expect(await done).toBe(true);
  });

  it('asks which one when both are set, and writes it where it stands', async () => {
    Object.assign(set, { dailyUsd: 2, sessionUsd: 1 });
    typed = '4';
    expect(await raiseBudget(async () => undefined)).toBe(true);
    expect(written).toEqual([['sessionUsd', 4, 2]]);
  });

  it.each(['', 'much', '-1', '2'])('refuses %j', async (text) => {
    set.dailyUsd = 2;
    typed = text;
    expect(await raiseBudget(async () => undefined)).toBe(false);
    expect(complaint).toBeTruthy();
    expect(written).toEqual([]);
  });

  it('leaves everything as it is when the user thinks better of it', async () => {
    set.dailyUsd = 2;
    typed = undefined;
    expect(await raiseBudget(async () => undefined)).toBe(false);
    expect(written).toEqual([]);
  });
});
