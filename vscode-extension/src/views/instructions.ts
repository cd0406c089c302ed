/** The Instructions view: which files, imports and rules apply to the document in front. */

import * as vscode from 'vscode';
import { guarded, type RunCommand } from '../commands/palette';
import type { InstructionReport } from './data';
import { instructionRows, instructionTokens } from './instruction-rows';
import { debounced, RowTree, type Row } from './rows';

export interface InstructionsInput {
  run: RunCommand;
  asUri(uri: vscode.Uri): string;
  fromWire(uri: string): vscode.Uri;
  /** Tells the server of files that were made, renamed or deleted. */
  filesChanged(uris: string[]): void;
}

export class InstructionsView implements vscode.Disposable {
  private readonly tree: RowTree;
  private readonly soon = debounced(() => this.refresh(), 150);
  private readonly subscriptions: vscode.Disposable;
  private shownFor: string | undefined;

  constructor(private readonly input: InstructionsInput) {
    this.tree = new RowTree('chatls.instructions', () => this.read(), input.fromWire);
    this.subscriptions = vscode.Disposable.from(
      this.tree,
      this.soon,
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        // A panel in front is no reason to forget which file the view is about.
        if (editor?.document.uri.scheme === 'file' && editor.document.uri.toString() !== this.shownFor) this.soon();
      }),
      // The server has instruction files watched by name; what they import can have any.
      vscode.workspace.onDidCreateFiles(({ files }) => this.changed(files)),
      vscode.workspace.onDidDeleteFiles(({ files }) => this.changed(files)),
      vscode.workspace.onDidRenameFiles(({ files }) => this.changed(files.flatMap(({ oldUri, newUri }) => [oldUri, newUri]))),
      vscode.commands.registerCommand('chatls.ui.view.instructions.reload', () =>
        guarded(async () => {
          await input.run('chatls.instructions.reload');
          this.refresh();
        }),
      ),
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  refresh(): void {
    this.tree.refresh();
  }

  private changed(files: readonly vscode.Uri[]): void {
    this.input.filesChanged(files.filter(({ scheme }) => scheme === 'file').map((uri) => this.input.asUri(uri)));
    this.soon();
  }

  private async read(): Promise<Row[]> {
    const active = vscode.window.activeTextEditor?.document.uri;
    if (active?.scheme === 'file') this.shownFor = active.toString();
    const uri = this.shownFor === undefined ? undefined : vscode.Uri.parse(this.shownFor, true);
    const { data } = await this.input.run<InstructionReport | undefined>('chatls.instructions.show', uri ? { uri: this.input.asUri(uri) } : {});
    const report = data ?? {};
    const tokens = instructionTokens(report);
    const name = uri ? uri.path.slice(uri.path.lastIndexOf('/') + 1) : '';
    const { view } = this.tree;
    view.description = [name, tokens ? vscode.l10n.t('{0} tokens', tokens) : ''].filter(Boolean).join(' · ');
    if (report.enabled === false) view.message = vscode.l10n.t('Instruction files are switched off in the settings.');
    else if (report.trusted === false) view.message = vscode.l10n.t('This folder is not trusted: its files are shown to the model as data.');
    else delete view.message;
    const rows = instructionRows(report);
    await vscode.commands.executeCommand('setContext', 'chatls.instructionsEmpty', rows.length === 0);
    return rows;
  }
}
