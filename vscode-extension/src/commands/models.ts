/** Choosing who answers. */

import * as vscode from 'vscode';
import type { RunCommand } from './palette';

interface ProviderItem {
  name?: string;
  id?: string;
  title?: string;
  configured?: boolean;
  available?: boolean;
  models?: (string | { id?: string; name?: string })[];
  model?: string;
}

type ModelPick = vscode.QuickPickItem & { provider?: string; model?: string; action?: 'key' | 'type' };

/** Lists providers with their models and switches to the chosen one. */
export async function switchModel(run: RunCommand, sessionId: string | undefined): Promise<void> {
  const { l10n, window, QuickPickItemKind } = vscode;
  const { data } = await run<{ providers?: ProviderItem[] } | ProviderItem[]>('chatls.provider.list');
  const providers = Array.isArray(data) ? data : (data?.providers ?? []);
  const picks: ModelPick[] = [];
  for (const item of providers) {
    const provider = item.id ?? item.name;
    const usable = item.available ?? item.configured ?? true;
    if (!provider || !usable) continue;
    picks.push({ label: item.title ?? provider, kind: QuickPickItemKind.Separator });
    const models = (item.models ?? []).flatMap((model) => (typeof model === 'string' ? [model] : (model.id ?? model.name ?? [])));
    const listed = models.length ? models : item.model ? [item.model] : [''];
    for (const model of listed) picks.push({ label: model || provider, description: provider, provider, model });
  }
  picks.push(
    { label: '', kind: QuickPickItemKind.Separator },
    { label: l10n.t('Type a model’s name…'), action: 'type' },
    { label: l10n.t('Add a key…'), action: 'key' },
  );
  const picked = await window.showQuickPick(picks, { title: l10n.t('Switch Model'), matchOnDescription: true });
  if (!picked) return;
  if (picked.action === 'key') {
    await vscode.commands.executeCommand('chatls.ui.key.add');
    return;
  }
  const target = picked.action === 'type' ? await typedModel(providers) : picked;
  if (!target?.provider) return;
  const model = target.model ? { model: target.model } : {};
  await run('chatls.provider.switch', { provider: target.provider, ...model, ...(sessionId ? { sessionId } : {}) });
}

async function typedModel(providers: ProviderItem[]): Promise<{ provider: string; model: string } | undefined> {
  const { l10n, window } = vscode;
  const names = providers.flatMap((item) => item.id ?? item.name ?? []);
  const provider = await window.showQuickPick(names, { title: l10n.t('Whose model?') });
  if (!provider) return undefined;
  const model = (await window.showInputBox({ title: l10n.t('Model'), prompt: l10n.t('The model’s name, as {0} spells it', provider) }))?.trim();
  return model ? { provider, model } : undefined;
}

/** Switches to Ollama, or says how to get it when it does not run here. */
export async function useOllama(run: RunCommand, sessionId: string | undefined): Promise<void> {
  const { data } = await run<{ providers?: ProviderItem[] } | ProviderItem[]>('chatls.provider.list');
  const providers = Array.isArray(data) ? data : (data?.providers ?? []);
  const ollama = providers.find((item) => (item.id ?? item.name) === 'ollama');
  if (ollama && (ollama.available ?? ollama.configured)) {
    await run('chatls.provider.switch', { provider: 'ollama', ...(sessionId ? { sessionId } : {}) });
    return;
  }
  const site = vscode.l10n.t('Open ollama.com');
  const words = vscode.l10n.t('Ollama does not answer on this machine. Install it, run “ollama pull” for a model, and try again.');
  if ((await vscode.window.showInformationMessage(words, site)) === site) {
    await vscode.env.openExternal(vscode.Uri.parse('https://ollama.com'));
  }
}
