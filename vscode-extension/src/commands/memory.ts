/** Memory commands that need more than a question: forgetting with a choice and an undo, setting the profile. */

import * as vscode from 'vscode';
import { localDay, oneLine, plain, shortened, unlinked, withoutIcons } from '../text';
import { guarded, type RunCommand } from './palette';
import type { Results } from './results';

/** Most facts in a list to choose from. */
const MOST_PICKED = 5000;

/** Longest text of a remembered item in a notification. */
const TOLD = 80;

interface MemoryItem {
  id: string;
  text?: string;
  content?: string;
  kind?: string;
  category?: string;
  date?: string;
}

interface Forgotten {
  items?: MemoryItem[];
  undoToken?: string;
}

/** Registers the commands. */
export function registerMemoryCommands(run: RunCommand, results: Results): vscode.Disposable[] {
  const { registerCommand } = vscode.commands;
  return [
    registerCommand('chatls.ui.memory.forget', () => guarded(() => forget(run))),
    registerCommand('chatls.ui.memory.undo', (token?: string) => guarded(() => undo(run, token))),
    registerCommand('chatls.ui.memory.rememberSelection', () => guarded(() => rememberSelection(run))),
    registerCommand('chatls.ui.memory.setProfile', () => guarded(() => setProfile(run, results))),
    registerCommand('chatls.ui.memory.pending', () => guarded(() => pending(run))),
    registerCommand('chatls.ui.memory.why', () => guarded(() => why(run, results))),
    registerCommand('chatls.ui.memory.export', () => guarded(() => exportMemory(run))),
    registerCommand('chatls.ui.memory.import', () => guarded(() => importMemory(run))),
  ];
}

const FILES = { 'JSON Lines': ['jsonl'] };

async function exportMemory(run: RunCommand): Promise<void> {
  const { l10n, window, Uri } = vscode;
  const name = `memory-${localDay(new Date().toISOString())}.jsonl`;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const defaultUri = folder ? Uri.joinPath(folder, '..', name) : Uri.file(name);
  const file = await window.showSaveDialog({ title: l10n.t('Export Memory'), filters: FILES, defaultUri });
  if (!file) return;
  const { markdown } = await run('chatls.memory.export', { path: file.fsPath });
  void window.showInformationMessage(plain(markdown));
}

async function importMemory(run: RunCommand): Promise<void> {
  const { l10n, window } = vscode;
  const files = await window.showOpenDialog({ title: l10n.t('Import Memory'), openLabel: l10n.t('Import'), filters: FILES });
  if (!files?.[0]) return;
  const { markdown } = await run('chatls.memory.import', { path: files[0].fsPath });
  void window.showInformationMessage(plain(markdown));
}

/** The token of what was forgotten last, for the command without a notification. */
let lastUndo: string | undefined;

async function forget(run: RunCommand): Promise<void> {
  const { l10n, window } = vscode;
  const match = (await window.showInputBox({ title: l10n.t('Forget'), prompt: l10n.t('Text of what should be forgotten') }))?.trim();
  if (!match) return;
  const { data } = await run<Forgotten>('chatls.memory.forget', { match, dryRun: true });
  const found = data?.items ?? [];
  if (!found.length) {
    void window.showInformationMessage(l10n.t('Nothing in memory matches “{0}”.', match));
    return;
  }
  const picked = await window.showQuickPick(found.map(asPick), {
    title: l10n.t('Forget which of these?'),
    placeHolder: l10n.t('Choose what should be forgotten'),
    canPickMany: true,
    matchOnDetail: true,
  });
  if (!picked?.length) return;
  const question = picked.length === 1 ? l10n.t('Forget “{0}”?', picked[0]!.text) : l10n.t('Forget {0} items?', picked.length);
  const yes = l10n.t('Forget');
  if ((await window.showWarningMessage(question, { modal: true }, yes)) !== yes) return;
  const done = await run<Forgotten>('chatls.memory.forget', { ids: picked.map((pick) => pick.id) });
  await offerUndo(run, forgottenWords(done.markdown, done.data), done.data?.undoToken);
}

/** What was forgotten in a sentence: by name where it is one item. */
export function forgottenWords(markdown: string, data: Forgotten | undefined): string {
  const [first, ...more] = data?.items ?? [];
  const name = first?.text ?? first?.content;
  return name && !more.length ? unlinked(vscode.l10n.t('Forgotten: “{0}”.', shortened(oneLine(name), TOLD))) : plain(markdown);
}

/** Says what happened, with a button that takes it back. */
export async function offerUndo(run: RunCommand, sentence: string, token: string | undefined): Promise<void> {
  lastUndo = token ?? lastUndo;
  const undoLabel = vscode.l10n.t('Undo');
  const chosen = await vscode.window.showInformationMessage(sentence, ...(token ? [undoLabel] : []));
  if (chosen === undoLabel) await undo(run, token);
}

async function undo(run: RunCommand, token: string | undefined): Promise<void> {
  const undoToken = token ?? lastUndo;
  if (!undoToken) {
    void vscode.window.showInformationMessage(vscode.l10n.t('There is nothing to undo in memory.'));
    return;
  }
  if (undoToken === lastUndo) lastUndo = undefined;
  const { markdown } = await run('chatls.memory.undo', { undoToken });
  void vscode.window.showInformationMessage(plain(markdown));
}

async function rememberSelection(run: RunCommand): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const content = editor && !editor.selection.isEmpty ? editor.document.getText(editor.selection).trim() : '';
  if (!content) {
    void vscode.window.showInformationMessage(vscode.l10n.t('Select some text first.'));
    return;
  }
  const { markdown, data } = await run<{ undoToken?: string }>('chatls.memory.remember', { content });
  await offerUndo(run, plain(markdown), data?.undoToken);
}

async function setProfile(run: RunCommand, results: Results): Promise<void> {
  const { l10n, window } = vscode;
  const key = (await window.showInputBox({ title: l10n.t('Set Profile'), prompt: l10n.t('Which field?'), placeHolder: 'name' }))?.trim();
  if (!key) return;
  const value = await window.showInputBox({ title: l10n.t('Set Profile'), prompt: l10n.t('What should {0} say? Empty clears it.', key) });
  if (value === undefined) return;
  const { markdown, data } = await run<{ changed?: string[]; undoToken?: string } | undefined>('chatls.memory.profile', { set: { [key]: value.trim() } });
  if (data?.changed?.length) await offerUndo(run, plain(markdown), data.undoToken);
  else await results.show(l10n.t('Profile'), markdown);
}

async function pending(run: RunCommand): Promise<void> {
  const { l10n, window } = vscode;
  const { data } = await run<{ items?: MemoryItem[] }>('chatls.memory.pending');
  const found = data?.items ?? [];
  if (!found.length) {
    void window.showInformationMessage(l10n.t('Nothing waits to be remembered.'));
    return;
  }
  const picked = await window.showQuickPick(
    found.map((item) => ({ ...asPick(item), picked: true })),
    { title: l10n.t('Remember these?'), placeHolder: l10n.t('What is not chosen is dropped'), canPickMany: true },
  );
  if (!picked) return;
  const chosen = new Set(picked.map((pick) => pick.id));
  const accepted = found.filter((item) => chosen.has(item.id)).map((item) => item.id);
  const rejected = found.filter((item) => !chosen.has(item.id)).map((item) => item.id);
  if (accepted.length) await run('chatls.memory.accept', { ids: accepted });
  if (rejected.length) await run('chatls.memory.reject', { ids: rejected });
  void window.showInformationMessage(l10n.t('{0} remembered, {1} dropped.', accepted.length, rejected.length));
}

async function why(run: RunCommand, results: Results): Promise<void> {
  const { l10n, window } = vscode;
  const { data } = await run<{ facts?: MemoryItem[] }>('chatls.memory.facts', { limit: MOST_PICKED });
  const picked = await window.showQuickPick((data?.facts ?? []).map(asPick), { title: l10n.t('Where does this come from?'), matchOnDetail: true });
  if (!picked) return;
  const { markdown } = await run('chatls.memory.why', { id: picked.id });
  await results.show(l10n.t('Where It Comes From'), markdown);
}

function asPick(item: MemoryItem): vscode.QuickPickItem & { id: string; text: string } {
  const detail = [item.category ?? item.kind, localDay(item.date)].filter(Boolean).join(' · ');
  const text = oneLine(item.text ?? item.content ?? item.id);
  return { id: item.id, text, label: withoutIcons(text), ...(detail ? { description: detail } : {}) };
}
