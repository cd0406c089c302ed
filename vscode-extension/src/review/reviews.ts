/**
 * Review of edits in the diff editor: left the live file, right the text the server proposes, a pair of code lenses per
 * hunk. Nothing here changes a document; the server writes what was accepted.
 */

import * as vscode from 'vscode';
import type { ApproveParams, ApproveResult, ProposedFile } from '../wire';
import { Decisions, proposedLines } from './hunks';

export interface ReviewPorts {
  /** Gives the answer to the server; `text` is what the card then says. */
  settle(callId: string, answer: ApproveResult, text: string): void;
  /** Tells the panel which hunks were decided so far. */
  progress(callId: string, accepted: string[], rejected: string[]): void;
  asUri(wire: string): vscode.Uri;
}

export class Reviews implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly open_ = new Map<string, Decisions>();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly ports: ReviewPorts) {
    const { registerCommand } = vscode.commands;
    this.subscriptions = [
      vscode.languages.registerCodeLensProvider({ scheme: 'chatls' }, this),
      registerCommand('chatls.ui.review.acceptHunk', (callId: string, hunkId: string) => this.decide(callId, hunkId, true)),
      registerCommand('chatls.ui.review.rejectHunk', (callId: string, hunkId: string) => this.decide(callId, hunkId, false)),
      registerCommand('chatls.ui.review.accept', () => this.decideActive(true)),
      registerCommand('chatls.ui.review.reject', () => this.decideActive(false)),
    ];
  }

  dispose(): void {
    for (const item of this.subscriptions) item.dispose();
    this.changed.dispose();
  }

  /** Notes an approval whose edits can be reviewed. */
  open(params: ApproveParams): void {
    if (params.edits?.length) this.open_.set(params.callId, new Decisions(params));
    this.changed.fire();
  }

  /** Forgets a settled approval and closes its diff editors; the live file takes the place of one that was in front. */
  async close(callId: string): Promise<void> {
    const decisions = this.open_.get(callId);
    if (!decisions) return;
    this.open_.delete(callId);
    this.changed.fire();
    const files = decisions.params.edits ?? [];
    const proposed = new Map(files.flatMap((file) => (file.proposed ? [[this.ports.asUri(file.proposed).toString(), file]] : [])));
    for (const group of vscode.window.tabGroups.all) {
      for (const tab of group.tabs) {
        if (!(tab.input instanceof vscode.TabInputTextDiff)) continue;
        const file = proposed.get(tab.input.modified.toString());
        if (!file) continue;
        const wasInFront = tab.isActive;
        await vscode.window.tabGroups.close(tab, true);
        if (wasInFront) await showFile(this.ports.asUri(file.newUri ?? file.uri), group.viewColumn, file);
      }
    }
  }

  /** Opens the diff editor on one file of an approval; false when it is not open any more. */
  async openDiff(callId: string, uri: string): Promise<boolean> {
    const edits = this.open_.get(callId)?.params.edits;
    const file = edits?.find((edit) => edit.uri === uri) ?? edits?.[0];
    if (!file?.proposed) return false;
    const live = this.ports.asUri(file.uri);
    const left = file.kind === 'create' && file.original ? this.ports.asUri(file.original) : live;
    const title = vscode.l10n.t('{0} (proposed)', live.path.slice(live.path.lastIndexOf('/') + 1));
    await vscode.commands.executeCommand('vscode.diff', left, this.ports.asUri(file.proposed), title, { preview: true });
    return true;
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const found = this.find(document.uri);
    if (!found) return [];
    const { callId, decisions, file } = found;
    return proposedLines(file.hunks).flatMap(({ hunk, line }) => {
      const range = new vscode.Range(Math.min(line, document.lineCount - 1), 0, Math.min(line, document.lineCount - 1), 0);
      const lens = (title: string, command: string) => new vscode.CodeLens(range, { title, command, arguments: [callId, hunk.id] });
      const verdict = decisions.verdict(hunk.id);
      const mark = (wanted: boolean) => (verdict === wanted ? '$(check) ' : '');
      return [
        lens(mark(true) + (verdict === true ? vscode.l10n.t('Accepted') : vscode.l10n.t('Accept')), 'chatls.ui.review.acceptHunk'),
        lens(mark(false) + (verdict === false ? vscode.l10n.t('Rejected') : vscode.l10n.t('Reject')), 'chatls.ui.review.rejectHunk'),
      ];
    });
  }

  private decide(callId: string, hunkId: string, accept: boolean): void {
    const decisions = this.open_.get(callId);
    if (!decisions) return;
    decisions.decide(hunkId, accept);
    this.conclude(callId, decisions);
  }

  /** Accepts or rejects what is left of an edit; false when none of its hunks was decided on its own. */
  decideRest(callId: string, accept: boolean): boolean {
    const decisions = this.open_.get(callId);
    if (!decisions?.decideRest(accept)) return false;
    this.conclude(callId, decisions);
    return true;
  }

  /** Decides every hunk of the file in front that was not decided yet. */
  private decideActive(accept: boolean): void {
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    const found = input instanceof vscode.TabInputTextDiff ? this.find(input.modified) : undefined;
    if (!found) return;
    for (const hunk of found.file.hunks) {
      if (found.decisions.verdict(hunk.id) === undefined) found.decisions.decide(hunk.id, accept);
    }
    this.conclude(found.callId, found.decisions);
  }

  private conclude(callId: string, decisions: Decisions): void {
    const answer = decisions.answer();
    if (!answer) {
      this.ports.progress(callId, decisions.ids(true), decisions.ids(false));
      this.changed.fire();
      return;
    }
    const accepted = decisions.ids(true).length;
    const total = decisions.hunks.length;
    const { l10n } = vscode;
    const text = accepted === total ? l10n.t('Accepted') : accepted === 0 ? l10n.t('Rejected') : l10n.t('{0} of {1} accepted', accepted, total);
    this.ports.settle(callId, answer, text);
  }

  private find(uri: vscode.Uri): { callId: string; decisions: Decisions; file: ProposedFile } | undefined {
    for (const [callId, decisions] of this.open_) {
      const file = decisions.params.edits?.find((edit) => edit.proposed && this.ports.asUri(edit.proposed).toString() === uri.toString());
      if (file) return { callId, decisions, file };
    }
    return undefined;
  }
}

async function showFile(uri: vscode.Uri, viewColumn: vscode.ViewColumn, file: ProposedFile): Promise<void> {
  const exists = await vscode.workspace.fs.stat(uri).then(
    () => true,
    () => false, // it was to be created and was not yet, or is to be deleted: nothing to show
  );
  if (!exists) return;
  const document = await vscode.workspace.openTextDocument(uri);
  const line = Math.min(file.hunks[0]?.range.start.line ?? 0, document.lineCount - 1);
  const place = new vscode.Range(line, 0, line, 0);
  await vscode.window.showTextDocument(document, { viewColumn, selection: place, preview: false });
}
