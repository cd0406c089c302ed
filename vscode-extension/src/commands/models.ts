/** Choosing who answers. */

import * as vscode from 'vscode';
import { modelRows, type ModelRow, type ProviderItem } from './model-rows';
import type { RunCommand } from './palette';
import { signIn } from './sign-in';

/** Lists providers with their models and switches to the chosen one. */
export async function switchModel(run: RunCommand, sessionId: string | undefined): Promise<void> {
  const { l10n, window } = vscode;
  const providers = await listed(run);
  const picked = await window.showQuickPick(modelRows(providers).map(asItem), {
    title: l10n.t('Switch Model'),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (!picked) return;
  const { action, provider } = picked.row;
  if (action === 'key') {
    await vscode.commands.executeCommand('chatls.ui.key.add', provider);
    return;
  }
  if (action === 'help') {
    void window.showInformationMessage(`${picked.label}: ${picked.detail ?? ''}`);
    return;
  }
  if (action === 'signIn' && !(provider && (await signIn(run, provider)))) return;
  const target = action === 'type' ? await typedModel(providers) : picked.row;
  if (!target?.provider) return;
  const model = target.model ? { model: target.model } : {};
  await run('chatls.provider.switch', { provider: target.provider, ...model, ...(sessionId ? { sessionId } : {}) });
}

/** All providers, as the server knows them. */
export async function listed(run: RunCommand): Promise<ProviderItem[]> {
  const { data } = await run<{ providers?: ProviderItem[] }>('chatls.provider.list');
  return data?.providers ?? [];
}

function asItem(row: ModelRow): vscode.QuickPickItem & { row: ModelRow } {
  const { label, description, detail } = row;
  if (row.heading) return { label, kind: vscode.QuickPickItemKind.Separator, row };
  return { label, ...(description ? { description } : {}), ...(detail ? { detail } : {}), row };
}

async function typedModel(providers: ProviderItem[]): Promise<{ provider: string; model: string } | undefined> {
  const { l10n, window } = vscode;
  const names = providers.map((item) => item.name);
  const provider = await window.showQuickPick(names, { title: l10n.t('Whose model?') });
  if (!provider) return undefined;
  const model = (await window.showInputBox({ title: l10n.t('Model'), prompt: l10n.t('The model’s name, as {0} spells it', provider) }))?.trim();
  return model ? { provider, model } : undefined;
}

/** Switches to Ollama, or says how to get it when it does not run here. */
export async function useOllama(run: RunCommand, sessionId: string | undefined): Promise<void> {
  const ollama = (await listed(run)).find((item) => item.name === 'ollama');
  if (ollama?.available) {
    await run('chatls.provider.switch', { provider: 'ollama', ...(sessionId ? { sessionId } : {}) });
    return;
  }
  const site = vscode.l10n.t('Open ollama.com');
  const words = vscode.l10n.t('Ollama does not answer on this machine. Install it, run “ollama pull” for a model, and try again.');
  if ((await vscode.window.showInformationMessage(words, site)) === site) {
    await vscode.env.openExternal(vscode.Uri.parse('https://ollama.com'));
  }
}
