/** Keys: kept by the editor's secret storage, handed to the server at its start and on change, written nowhere else. */

import * as vscode from 'vscode';

/** The names (never the keys) of providers that have a key here. */
const INDEX = 'chatls.keyProviders';
const PREFIX = 'chatls.key.';

/** Providers offered by name; any other can be typed. */
const PROVIDERS = ['anthropic', 'openai', 'gemini', 'openrouter', 'deepseek', 'xai', 'mistral', 'groq'];

export class Keys {
  constructor(private readonly context: vscode.ExtensionContext) {}

  get onDidChange(): vscode.Event<vscode.SecretStorageChangeEvent> {
    return this.context.secrets.onDidChange;
  }

  /** All keys by provider; a provider whose key was removed has null. */
  async all(): Promise<Record<string, string | null>> {
    const names = this.context.globalState.get<string[]>(INDEX, []);
    const entries = names.map(async (name) => [name, (await this.context.secrets.get(PREFIX + name)) ?? null] as const);
    return Object.fromEntries(await Promise.all(entries));
  }

  /** Asks for a provider and its key, and keeps it. Gives the provider, or undefined when the user turned away. */
  async add(): Promise<string | undefined> {
    const other = { label: vscode.l10n.t('Another provider…'), provider: '' };
    const picked = await vscode.window.showQuickPick([...PROVIDERS.map((provider) => ({ label: provider, provider })), other], {
      title: vscode.l10n.t('Add a Key'),
      placeHolder: vscode.l10n.t('Whose key is it?'),
    });
    if (!picked) return undefined;
    const provider = picked.provider || (await vscode.window.showInputBox({ title: vscode.l10n.t('Name of the provider'), validateInput: providerProblem }))?.trim();
    if (!provider) return undefined;
    const key = await vscode.window.showInputBox({
      title: vscode.l10n.t('Key for {0}', provider),
      prompt: vscode.l10n.t('It is kept in the editor’s secret storage.'),
      password: true,
      ignoreFocusOut: true,
    });
    if (!key?.trim()) return undefined;
    await this.remember(provider);
    await this.context.secrets.store(PREFIX + provider, key.trim());
    return provider;
  }

  /** Asks which key to remove. */
  async remove(): Promise<void> {
    const stored = Object.entries(await this.all()).flatMap(([name, key]) => (key === null ? [] : [name]));
    if (!stored.length) {
      void vscode.window.showInformationMessage(vscode.l10n.t('No key is kept here.'));
      return;
    }
    const provider = await vscode.window.showQuickPick(stored, { title: vscode.l10n.t('Remove a Key') });
    if (provider) await this.context.secrets.delete(PREFIX + provider);
  }

  private async remember(provider: string): Promise<void> {
    const names = this.context.globalState.get<string[]>(INDEX, []);
    if (!names.includes(provider)) await this.context.globalState.update(INDEX, [...names, provider]);
  }
}

function providerProblem(value: string): string | undefined {
  return /^[a-zA-Z][\w.-]{0,40}$/.test(value.trim()) ? undefined : vscode.l10n.t('Letters, digits, dots and dashes.');
}
