/** Attach Context…: one that is known, or files gathered under a new name. */

import * as vscode from 'vscode';
import type { ChatController } from '../chat/controller';
import { plain } from '../text';
import { guarded, type RunCommand } from './palette';

interface ContextItem {
  name: string;
  mode?: string;
  files?: number;
}

/** Registers the command. */
export function registerContextCommands(run: RunCommand, controller: ChatController): vscode.Disposable {
  return vscode.commands.registerCommand('chatls.ui.context.attach', () => guarded(() => attach(run, controller)));
}

async function attach(run: RunCommand, controller: ChatController): Promise<void> {
  const name = await choose(run);
  if (!name) return;
  const { markdown } = await run('chatls.context.attach', { name, sessionId: await conversation(run, controller) });
  void vscode.commands.executeCommand('chatls.ui.view.context.refresh');
  void vscode.window.showInformationMessage(plain(markdown));
}

async function choose(run: RunCommand): Promise<string | undefined> {
  const { data } = await run<{ contexts?: ContextItem[] } | undefined>('chatls.context.list');
  const known = (data?.contexts ?? []).map(({ name, mode = '', files = 0 }) => ({ label: name, description: mode, detail: vscode.l10n.t('{0} files', files), name }));
  if (!known.length) return gather(run);
  const fresh = { label: vscode.l10n.t('New Context…'), name: '' };
  const picked = await vscode.window.showQuickPick([...known, fresh], { title: vscode.l10n.t('Attach Context'), matchOnDescription: true });
  return picked && (picked.name || gather(run));
}

async function gather(run: RunCommand): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({ canSelectFiles: true, canSelectFolders: true, canSelectMany: true, openLabel: vscode.l10n.t('Gather') });
  if (!chosen?.length) return undefined;
  const name = (await vscode.window.showInputBox({ title: vscode.l10n.t('New Context'), prompt: vscode.l10n.t('A name for these files') }))?.trim();
  if (!name) return undefined;
  await run('chatls.context.create', { name, paths: chosen.map((uri) => uri.toString()) });
  return name;
}

/** The open conversation, begun where there is none yet. */
async function conversation(run: RunCommand, controller: ChatController): Promise<string | undefined> {
  if (controller.session) return controller.session;
  const { data } = await run<{ sessionId?: string } | undefined>('chatls.session.new');
  if (data?.sessionId) await controller.openSession(data.sessionId);
  return data?.sessionId;
}
