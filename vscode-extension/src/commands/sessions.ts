/** Session commands: new, open, rename, fork, delete, rewind, undo of edits. */

import * as vscode from 'vscode';
import type { ChatController } from '../chat/controller';
import { oneLine, plain, withoutIcons } from '../text';
import { guarded, type RunCommand } from './palette';

interface SessionItem {
  id?: string;
  sessionId?: string;
  name?: string;
  title?: string;
  updated?: string;
  messages?: number;
}

interface Checkpoint {
  id?: string;
  checkpointId?: string;
  label?: string;
  time?: string;
}

/** Registers the commands. */
export function registerSessionCommands(run: RunCommand, controller: ChatController, focus: () => void): vscode.Disposable[] {
  const { registerCommand } = vscode.commands;
  return [
    registerCommand('chatls.ui.session.new', () => {
      controller.newSession();
      focus();
    }),
    registerCommand('chatls.ui.session.open', () => guarded(() => openSession(run, controller))),
    registerCommand('chatls.ui.session.rename', () => guarded(() => rename(run, controller))),
    registerCommand('chatls.ui.session.fork', () => guarded(() => fork(run, controller))),
    registerCommand('chatls.ui.session.delete', () => guarded(() => remove(run, controller))),
    registerCommand('chatls.ui.session.rewind', (checkpointId?: string) => guarded(() => rewind(run, controller, checkpointId))),
    registerCommand('chatls.ui.edits.undo', (turnId?: string, callId?: string) => guarded(() => undoEdits(run, controller, turnId, callId))),
  ];
}

function needSession(controller: ChatController): string | undefined {
  if (!controller.session) void vscode.window.showInformationMessage(vscode.l10n.t('The conversation is still empty.'));
  return controller.session;
}

async function pickSession(run: RunCommand, title: string): Promise<string | undefined> {
  const { data } = await run<{ sessions?: SessionItem[] } | SessionItem[]>('chatls.session.list', { limit: 200 });
  const sessions = Array.isArray(data) ? data : (data?.sessions ?? []);
  if (!sessions.length) {
    void vscode.window.showInformationMessage(vscode.l10n.t('No session is saved yet.'));
    return undefined;
  }
  const picks = sessions.flatMap((item) => {
    const id = item.id ?? item.sessionId ?? item.name;
    const when = item.updated ? new Date(item.updated).toLocaleString(vscode.env.language) : '';
    return id ? [{ label: withoutIcons(oneLine(item.title || item.name || id)), description: when, id }] : [];
  });
  return (await vscode.window.showQuickPick(picks, { title, matchOnDescription: true }))?.id;
}

async function openSession(run: RunCommand, controller: ChatController): Promise<void> {
  const id = await pickSession(run, vscode.l10n.t('Open Session'));
  if (!id) return;
  const { data } = await run<SessionItem>('chatls.session.load', { sessionId: id });
  await controller.openSession(data?.id ?? data?.sessionId ?? id);
}

async function rename(run: RunCommand, controller: ChatController): Promise<void> {
  const sessionId = needSession(controller);
  if (!sessionId) return;
  const name = (await vscode.window.showInputBox({ title: vscode.l10n.t('Rename Session'), prompt: vscode.l10n.t('A name for this conversation') }))?.trim();
  if (!name) return;
  const { markdown } = await run('chatls.session.rename', { sessionId, name });
  void vscode.window.showInformationMessage(plain(markdown));
}

async function fork(run: RunCommand, controller: ChatController): Promise<void> {
  const sessionId = needSession(controller);
  if (!sessionId) return;
  const { markdown, data } = await run<SessionItem>('chatls.session.fork', { sessionId });
  const copy = data?.id ?? data?.sessionId;
  if (copy) await controller.openSession(copy);
  void vscode.window.showInformationMessage(plain(markdown));
}

async function remove(run: RunCommand, controller: ChatController): Promise<void> {
  const sessionId = await pickSession(run, vscode.l10n.t('Delete Session'));
  if (!sessionId) return;
  const yes = vscode.l10n.t('Delete');
  if ((await vscode.window.showWarningMessage(vscode.l10n.t('Delete this conversation?'), { modal: true }, yes)) !== yes) return;
  const { markdown, data } = await run<{ undoToken?: string } | undefined>('chatls.session.delete', { sessionId });
  if (controller.session === sessionId) controller.newSession();
  const undo = vscode.l10n.t('Undo');
  const undoToken = data?.undoToken;
  const chosen = await vscode.window.showInformationMessage(plain(markdown), ...(undoToken ? [undo] : []));
  if (chosen !== undo) return;
  const back = await run('chatls.session.undelete', { undoToken });
  void vscode.window.showInformationMessage(plain(back.markdown));
}

async function rewind(run: RunCommand, controller: ChatController, known?: string): Promise<void> {
  const sessionId = needSession(controller);
  if (!sessionId) return;
  const checkpointId = known ?? (await pickCheckpoint(run, sessionId));
  if (!checkpointId) return;
  const { markdown } = await run('chatls.session.rewind', { sessionId, checkpointId });
  await controller.replay();
  void vscode.window.showInformationMessage(plain(markdown));
}

async function pickCheckpoint(run: RunCommand, sessionId: string): Promise<string | undefined> {
  const { data } = await run<{ checkpoints?: Checkpoint[] }>('chatls.session.rewind', { sessionId });
  const picks = (data?.checkpoints ?? []).flatMap((point) => {
    const id = point.id ?? point.checkpointId;
    return id ? [{ label: withoutIcons(oneLine(point.label || id)), description: point.time ? new Date(point.time).toLocaleString(vscode.env.language) : '', id }] : [];
  });
  if (!picks.length) {
    void vscode.window.showInformationMessage(vscode.l10n.t('There is nothing to rewind to yet.'));
    return undefined;
  }
  return (await vscode.window.showQuickPick(picks, { title: vscode.l10n.t('Rewind to…') }))?.id;
}

async function undoEdits(run: RunCommand, controller: ChatController, turnId?: string, callId?: string): Promise<void> {
  const turn = turnId ?? controller.lastEditedTurn();
  if (!turn) {
    void vscode.window.showInformationMessage(vscode.l10n.t('There is no edit to undo.'));
    return;
  }
  const { data } = await run<Undone>('chatls.edits.undo', { turnId: turn, ...(callId ? { callId } : {}) });
  const files = data?.files ?? [];
  if (files.some((file) => file.restored)) controller.markUndone(turn, callId);
  const again = vscode.l10n.t('Redo');
  const token = data?.undoToken;
  const chosen = await vscode.window.showInformationMessage(undoWords(files), ...(token ? [again] : []));
  if (chosen !== again || !token) return;
  const redone = await run<Undone>('chatls.edits.undo', { turnId: token });
  if (redone.data?.files?.some((file) => file.restored)) controller.markUndone(turn, callId, 'applied');
}

interface Undone {
  files?: { uri: string; restored: boolean; reason?: string }[];
  undoToken?: string;
}

/** What became of each file, in one or two sentences. */
function undoWords(files: NonNullable<Undone['files']>): string {
  const { l10n } = vscode;
  const name = (uri: string) => vscode.workspace.asRelativePath(vscode.Uri.parse(uri));
  const restored = files.filter((file) => file.restored).map((file) => name(file.uri));
  const sentences = restored.length ? [l10n.t('Undone in {0}.', restored.join(', '))] : [];
  for (const file of files.filter((item) => !item.restored)) {
    sentences.push(l10n.t('{0} was left alone: {1}', name(file.uri), file.reason ?? ''));
  }
  return sentences.join(' ') || l10n.t('There is no edit to undo.');
}
