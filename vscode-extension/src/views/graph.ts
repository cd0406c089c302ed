/** The knowledge graph as an editor tab. */

import * as vscode from 'vscode';
import { failureOf } from '../chat/failure';
import { page } from '../chat/view';
import { guarded, type RunCommand } from '../commands/palette';
import type { Results } from '../commands/results';
import type { ItemDetails } from './data';
import { nodeDetails } from './graph-details';
import type { FromGraph, Graph, ToGraph } from './graph-data';
import { showWhy, type OpenMessage } from './memory-items';
import { debounced } from './rows';

export interface GraphPanelInput {
  extensionUri: vscode.Uri;
  run: RunCommand;
  results: Results;
  openMessage: OpenMessage;
}

const TYPE = 'chatls.graph';

export class GraphPanel implements vscode.Disposable, vscode.WebviewPanelSerializer {
  private panel: vscode.WebviewPanel | undefined;
  private readings = 0;
  /** What the page is to look at once it has the graph. */
  private subject = '';
  private readonly soon = debounced(() => void this.read(), 500);
  private readonly registration: vscode.Disposable;

  constructor(private readonly input: GraphPanelInput) {
    this.registration = vscode.Disposable.from(
      vscode.commands.registerCommand('chatls.ui.memory.graph', (quiet?: unknown, subject?: unknown) =>
        guarded(() => this.show(quiet === true, typeof subject === 'string' ? subject : '')),
      ),
      vscode.window.registerWebviewPanelSerializer(TYPE, this),
    );
  }

  dispose(): void {
    this.soon.dispose();
    this.registration.dispose();
    this.panel?.dispose();
  }

  /** Memory was written to. */
  changed(): void {
    if (this.panel) this.soon();
  }

  /** The window was reloaded with the tab open. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    this.adopt(panel);
  }

  private async show(preserveFocus: boolean, subject: string): Promise<void> {
    this.subject = subject;
    if (this.panel) {
      this.panel.reveal(undefined, preserveFocus);
      await this.lookAtSubject();
      return;
    }
    this.adopt(
      vscode.window.createWebviewPanel(TYPE, vscode.l10n.t('Memory Graph'), { viewColumn: vscode.ViewColumn.Active, preserveFocus }, { retainContextWhenHidden: true }),
    );
  }

  private adopt(panel: vscode.WebviewPanel): void {
    const dist = vscode.Uri.joinPath(this.input.extensionUri, 'dist');
    panel.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    panel.webview.onDidReceiveMessage((message: FromGraph) => void guarded(() => this.handle(message)));
    panel.onDidDispose(() => {
      if (this.panel === panel) this.panel = undefined;
    });
    panel.webview.html = page(panel.webview, dist, 'graph');
    this.panel = panel;
  }

  private async handle(message: FromGraph): Promise<void> {
    const { run, results, openMessage } = this.input;
    if (message.type === 'ready') return this.read();
    if (message.type === 'open') return showWhy(run, results, message);
    if (message.type === 'details') {
      const { id } = message;
      const { data } = await run<ItemDetails | undefined>('chatls.memory.why', { id });
      return this.post({ type: 'details', id, details: nodeDetails(data) });
    }
    if (!(await openMessage(message.session, message.message))) {
      void vscode.window.showInformationMessage(vscode.l10n.t('The conversation opens once the answer that is being written is there.'));
    }
  }

  /** Reads the graph; what goes wrong is told in the tab. */
  private async read(): Promise<void> {
    const { run } = this.input;
    const reading = ++this.readings;
    try {
      const { data } = await run<Graph | undefined>('chatls.memory.graph');
      const graph = { nodes: data?.nodes ?? [], edges: data?.edges ?? [], totalNodes: data?.totalNodes ?? 0 };
      const { data: stats } = await run<{ problems?: string[] } | undefined>('chatls.memory.stats');
      if (reading !== this.readings) return;
      await this.post({ type: 'graph', graph });
      const [first, ...more] = stats?.problems ?? [];
      if (first) await this.post({ type: 'problem', text: more.length ? `${first} ${vscode.l10n.t('{0} more in Memory Statistics.', more.length)}` : first });
      await this.lookAtSubject();
    } catch (error) {
      const { message, hint } = failureOf(error);
      if (reading === this.readings) await this.post({ type: 'problem', text: hint && !message.includes(hint) ? `${message} ${hint}` : message });
    }
  }

  /** The model wants something to be seen: what its words mean is the server's to say. */
  private async lookAtSubject(): Promise<void> {
    const { subject: query } = this;
    if (!query) return;
    this.subject = '';
    const { data } = await this.input.run<Graph | undefined>('chatls.memory.neighbors', { query });
    const first = data?.nodes[0];
    if (first) await this.post({ type: 'focus', id: first.id });
  }

  private async post(message: ToGraph): Promise<void> {
    await this.panel?.webview.postMessage(message);
  }
}
