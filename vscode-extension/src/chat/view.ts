/** The chat panel: a webview that may load nothing but its own script, style and font. */

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { FromPanel, ToPanel } from '../panel';

export class ChatView implements vscode.WebviewViewProvider {
  static readonly id = 'chatls.chat';
  private view: vscode.WebviewView | undefined;
  private loaded = false;

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly onMessage: (message: FromPanel) => void,
  ) {}

  /** Sends a message to the panel; dropped when it is not there, since a panel that appears asks for everything. */
  post(message: ToPanel): void {
    if (this.loaded) void this.view?.webview.postMessage(message);
  }

  /** Brings the panel to the front without moving the focus when `preserveFocus` is set. */
  async reveal(preserveFocus = false): Promise<void> {
    if (preserveFocus && this.view) this.view.show(true);
    else await vscode.commands.executeCommand(`${ChatView.id}.focus`);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.loaded = false;
    const dist = vscode.Uri.joinPath(this.extensionUri, 'dist');
    view.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    view.webview.onDidReceiveMessage((message: FromPanel) => {
      if (message.type === 'ready') this.loaded = true;
      this.onMessage(message);
    });
    view.onDidDispose(() => {
      if (this.view !== view) return;
      this.view = undefined;
      this.loaded = false;
    });
    view.webview.html = page(view.webview, dist, 'chat');
  }
}

/** A webview's page: script, style and words of `name` in `dist`, and nothing else. */
export function page(webview: vscode.Webview, dist: vscode.Uri, name: string): string {
  const nonce = randomBytes(16).toString('base64url');
  const script = webview.asWebviewUri(vscode.Uri.joinPath(dist, `${name}.js`));
  const style = webview.asWebviewUri(vscode.Uri.joinPath(dist, `${name}.css`));
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
  ].join('; ');
  const language = vscode.env.language.replace(/[^\w-]/g, '');
  // A "<" inside the data would end the element early.
  const strings = JSON.stringify(vscode.l10n.bundle ?? {}).replace(/</g, '\\u003c');
  return `<!DOCTYPE html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${style.toString()}">
<title>ChatLS</title>
</head>
<body>
<script type="application/json" id="strings" nonce="${nonce}">${strings}</script>
<script nonce="${nonce}" src="${script.toString()}"></script>
</body>
</html>`;
}
