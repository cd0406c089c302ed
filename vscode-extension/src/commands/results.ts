/** Results of commands as Markdown previews: virtual documents that hold what the server answered. */

import * as vscode from 'vscode';

export const RESULT_SCHEME = 'chatls-result';
/** Earlier results that stay readable in their tabs. */
const KEPT = 20;

export class Results implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(RESULT_SCHEME, this);

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? vscode.l10n.t('This result is no longer kept; run the command again.');
  }

  /** Shows Markdown under a title; the same title shows its latest result in the same tab. */
  async show(title: string, markdown: string): Promise<void> {
    const path = `/${title.replace(/[\\/#?%]/g, ' ')}.md`;
    const uri = vscode.Uri.from({ scheme: RESULT_SCHEME, path });
    this.texts.delete(path);
    this.texts.set(path, withoutRemoteContent(markdown));
    for (const oldest of this.texts.keys()) {
      if (this.texts.size <= KEPT) break;
      this.texts.delete(oldest);
    }
    this.changed.fire(uri);
    await vscode.commands.executeCommand('markdown.showPreview', uri);
  }
}

/** Markdown whose images and embedded elements stay text: a preview must not fetch what a remembered line points to. */
export function withoutRemoteContent(markdown: string): string {
  return markdown
    .replace(/!\[/g, '!\\[')
    .replace(/(?<!\\)<(?=\s*\/?(?:img|video|audio|source|picture|iframe|object|embed|link|style|svg)\b)/gi, '&lt;');
}
