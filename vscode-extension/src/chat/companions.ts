/** What rides along with a message: the active file, its selection, and what was attached by hand. */

import * as vscode from 'vscode';
import type { Attachment } from '../panel';
import type { Location, Range } from '../wire';
import type { Companions } from './controller';

export class CompanionTracker implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly files = new Map<string, { uri: vscode.Uri; range?: vscode.Range }>();
  private editor: vscode.TextEditor | undefined = fileEditor(vscode.window.activeTextEditor);
  private hidden: string | undefined;
  private selectionHidden = false;
  private readonly subscriptions: vscode.Disposable[];

  constructor() {
    this.subscriptions = [
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        // The panel taking the focus leaves no active editor; what the user looked at last still counts.
        if (!editor && vscode.window.visibleTextEditors.length > 0) return;
        if (editor && !fileEditor(editor)) return;
        this.editor = editor;
        this.hidden = undefined;
        this.selectionHidden = false;
        this.changed.fire();
      }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor !== this.editor) return;
        this.selectionHidden = false;
        this.changed.fire();
      }),
    ];
  }

  dispose(): void {
    for (const item of this.subscriptions) item.dispose();
    this.changed.dispose();
  }

  /** Adds a file, or a range of it, to the next messages. */
  attach(uri: vscode.Uri, range?: vscode.Range): void {
    this.files.set(range ? `${uri.toString()}#${range.start.line}` : uri.toString(), range ? { uri, range } : { uri });
    this.changed.fire();
  }

  /** Takes away one of {@link attachments}. */
  detach(id: string): void {
    if (id === 'selection') this.selectionHidden = true;
    else if (id === 'document') this.hidden = this.editor?.document.uri.toString();
    else this.files.delete(id);
    this.changed.fire();
  }

  /** The chips above the message box. */
  attachments(): Attachment[] {
    const items: Attachment[] = [];
    const active = this.active();
    if (active) {
      const path = vscode.workspace.asRelativePath(active.document.uri);
      items.push({ id: 'document', kind: 'document', label: baseName(active.document.uri), title: path });
      const lines = this.selection(active);
      if (lines) {
        const label = vscode.l10n.t('selection {0}', lineSpan(lines));
        items.push({ id: 'selection', kind: 'selection', label, title: `${path}:${lineSpan(lines)}` });
      }
    }
    for (const [id, { uri, range }] of this.files) {
      const suffix = range ? `:${lineSpan(range)}` : '';
      items.push({ id, kind: 'file', label: baseName(uri) + suffix, title: vscode.workspace.asRelativePath(uri) + suffix });
    }
    return items;
  }

  /** What a message sent now takes along. Attached files are spent by it; the active document stays. */
  take(asUri: (uri: vscode.Uri) => string): Companions {
    const active = this.active();
    const selection = active && this.selection(active);
    const labels = this.attachments()
      .filter((item) => item.kind !== 'document')
      .map((item) => (item.kind === 'selection' ? item.title : item.label));
    const mentions: Location[] = [...this.files.values()].map(({ uri, range }) => ({ uri: asUri(uri), ...(range ? { range: wireRange(range) } : {}) }));
    const params: Companions['params'] = {};
    if (mentions.length) params.mentions = mentions;
    if (active) params.activeDocument = { uri: asUri(active.document.uri), ...(selection ? { selection: wireRange(selection) } : {}) };
    this.files.clear();
    this.changed.fire();
    return { labels, params };
  }

  private active(): vscode.TextEditor | undefined {
    const { editor } = this;
    return editor && !editor.document.isClosed && editor.document.uri.toString() !== this.hidden ? editor : undefined;
  }

  private selection(editor: vscode.TextEditor): vscode.Range | undefined {
    return this.selectionHidden || editor.selection.isEmpty ? undefined : editor.selection;
  }
}

/** A range in the protocol's form. */
export function wireRange(range: vscode.Range): Range {
  return {
    start: { line: range.start.line, character: range.start.character },
    end: { line: range.end.line, character: range.end.character },
  };
}

function fileEditor(editor: vscode.TextEditor | undefined): vscode.TextEditor | undefined {
  return editor && ['file', 'untitled', 'vscode-vfs', 'vscode-notebook-cell'].includes(editor.document.uri.scheme) ? editor : undefined;
}

function baseName(uri: vscode.Uri): string {
  return uri.path.slice(uri.path.lastIndexOf('/') + 1) || uri.path;
}

/** One-based lines as a reader writes them; a selection that ends at the start of a line does not include that line. */
function lineSpan(range: vscode.Range): string {
  const last = range.end.character === 0 && range.end.line > range.start.line ? range.end.line : range.end.line + 1;
  return last === range.start.line + 1 ? String(last) : `${range.start.line + 1}–${last}`;
}
