/** Keys: kept by the editor's secret storage, handed to the server at its start and on change, written nowhere else. */

import * as vscode from 'vscode';
import type { ProviderItem } from './commands/model-rows';

/** The names (never the keys) of providers that have a key here. */
const INDEX = 'chatls.keyProviders';
const PREFIX = 'chatls.key.';

/** Providers that have no key of their own: the embedded model, and one that shares its key with another. */
const KEYLESS = new Set(['local', 'openai_responses']);

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

  /**
   * Asks for a provider (unless it is `named`) and its key, and keeps it. Gives the provider, or undefined when the user
   * turned away. Providers with a sign-in have no key to type: `signIn` does it.
   */
  async add(providers: ProviderItem[], signIn: (provider: string) => Promise<boolean>, named?: string): Promise<string | undefined> {
    const provider = named ?? (await this.ask(providers));
    if (!provider) return undefined;
    const item = providers.find(({ name }) => name === provider);
    if (item?.signsIn) return (await signIn(provider)) ? provider : undefined;
    const key = await vscode.window.showInputBox({
      title: vscode.l10n.t('Key for {0}', item?.title ?? provider),
      prompt: vscode.l10n.t('It is kept in the editor’s secret storage.'),
      password: true,
      ignoreFocusOut: true,
    });
    if (!key?.trim()) return undefined;
    await this.keep(provider, key.trim());
    return provider;
  }

  private async ask(providers: ProviderItem[]): Promise<string | undefined> {
    const { l10n, window } = vscode;
    const known = providers.filter(({ name }) => !KEYLESS.has(name));
    const items = known.map(({ name, title, signsIn }) => ({
      label: title ?? name,
      description: signsIn ? l10n.t('sign in in the browser…') : name,
      provider: name,
    }));
    const other = { label: l10n.t('Another provider…'), provider: '' };
    const picked = await window.showQuickPick([...items, other], {
      title: l10n.t('Add a Key'),
      placeHolder: l10n.t('Whose key is it?'),
      matchOnDescription: true,
    });
    if (!picked) return undefined;
    return picked.provider || (await window.showInputBox({ title: l10n.t('Name of the provider'), validateInput: providerProblem }))?.trim();
  }

  /** Keeps a key; an empty one is forgotten. */
  async keep(provider: string, key: string): Promise<void> {
    await this.remember(provider);
    if (key) await this.context.secrets.store(PREFIX + provider, key);
    else await this.context.secrets.delete(PREFIX + provider);
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
