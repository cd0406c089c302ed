/** Commands about the selection and about what rides along: ask, edit, attach. */

import * as vscode from 'vscode';
import type { CompanionTracker } from '../chat/companions';
import type { ChatController } from '../chat/controller';
import type { ChatView } from '../chat/view';
import type { Mode } from '../wire';

export interface SelectionInput {
  controller: ChatController;
  companions: CompanionTracker;
  view: ChatView;
  asUri(uri: vscode.Uri): string;
  compose(text: string, mode?: Mode): Promise<void>;
}

/** Registers the commands. */
export function registerSelectionCommands({ controller, companions, view, asUri, compose }: SelectionInput): vscode.Disposable[] {
  const { registerCommand } = vscode.commands;
  return [
    registerCommand('chatls.ui.askSelection', async () => {
      if (!needSelection()) return;
      await compose('');
    }),
    registerCommand('chatls.ui.editSelection', async () => {
      if (!needSelection()) return;
      const text = (
        await vscode.window.showInputBox({
          title: vscode.l10n.t('Edit Selection'),
          prompt: vscode.l10n.t('What should change?'),
          placeHolder: vscode.l10n.t('Use a list comprehension'),
        })
      )?.trim();
      if (!text) return;
      await view.reveal(true);
      await controller.send(text, 'coder', companions.take(asUri));
    }),
    registerCommand('chatls.ui.attach', async (uri?: vscode.Uri, all?: vscode.Uri[]) => {
      const chosen = all?.length ? all : uri ? [uri] : await pickFiles();
      for (const file of chosen) companions.attach(file);
      if (chosen.length) await compose('');
    }),
  ];
}

function needSelection(): boolean {
  const editor = vscode.window.activeTextEditor;
  if (editor && !editor.selection.isEmpty) return true;
  void vscode.window.showInformationMessage(vscode.l10n.t('Select some text first.'));
  return false;
}

/** The most files the picker lists; typing in it finds the rest through `@` in the box. */
const LISTED = 5_000;

async function pickFiles(): Promise<vscode.Uri[]> {
  const found = await vscode.workspace.findFiles('**/*', undefined, LISTED);
  const picks = found
    .map((uri) => ({ label: vscode.workspace.asRelativePath(uri), uri }))
    .sort((a, b) => a.label.localeCompare(b.label));
  const picked = await vscode.window.showQuickPick(picks, { title: vscode.l10n.t('Attach Files'), canPickMany: true });
  return picked?.map((item) => item.uri) ?? [];
}
