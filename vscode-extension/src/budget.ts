/** Raising a budget that was reached (UX.md, "Broken states"). */

import * as vscode from 'vscode';

const BUDGETS = ['dailyUsd', 'sessionUsd'] as const;
type Budget = (typeof BUDGETS)[number];

/**
 * Asks for a higher budget and writes it where the present one stands; false when the user thinks better of it.
 * `settingsTaken` is called before the setting is written and resolves when the server has it.
 */
export async function raiseBudget(settingsTaken: () => Promise<void>): Promise<boolean> {
  const settings = vscode.workspace.getConfiguration('chatls.budget');
  const budget = await chosen(settings);
  if (!budget) return false;
  const now = settings.get<number | null>(budget) ?? undefined;
  const { l10n } = vscode;
  const typed = await vscode.window.showInputBox({
    title: budget === 'dailyUsd' ? l10n.t('US dollars a day may cost') : l10n.t('US dollars one conversation may cost'),
    value: now === undefined ? '' : String(now * 2),
    validateInput: (text) => {
      const amount = Number(text.replace(',', '.'));
      if (!text.trim() || !Number.isFinite(amount) || amount <= 0) return l10n.t('Write an amount such as 2.50.');
      return now !== undefined && amount <= now ? l10n.t('It is {0} now; write more.', now) : undefined;
    },
  });
  if (typed === undefined) return false;
  const taken = settingsTaken();
  await settings.update(budget, Number(typed.replace(',', '.')), target(settings, budget));
  await taken;
  return true;
}

/** The budget that is set; the user says which when both are, or when none is and an environment variable gave it. */
async function chosen(settings: vscode.WorkspaceConfiguration): Promise<Budget | undefined> {
  const set = BUDGETS.filter((budget) => typeof settings.get(budget) === 'number');
  if (set.length === 1) return set[0];
  const { l10n } = vscode;
  const picked = await vscode.window.showQuickPick(
    [
      { label: l10n.t('Budget of a day'), budget: BUDGETS[0] },
      { label: l10n.t('Budget of a conversation'), budget: BUDGETS[1] },
    ],
    { title: l10n.t('Which budget should be raised?') },
  );
  return picked?.budget;
}

function target(settings: vscode.WorkspaceConfiguration, budget: Budget): vscode.ConfigurationTarget {
  const found = settings.inspect(budget);
  if (found?.workspaceFolderValue !== undefined && found.workspaceFolderValue !== null) return vscode.ConfigurationTarget.WorkspaceFolder;
  if (found?.workspaceValue !== undefined && found.workspaceValue !== null) return vscode.ConfigurationTarget.Workspace;
  return vscode.ConfigurationTarget.Global;
}
