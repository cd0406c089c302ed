/** The knowledge graph as an editor tab. */

import * as vscode from 'vscode';
import { page } from '../chat/view';
import { guarded, type RunCommand } from '../commands/palette';
import type { Results } from '../commands/results';
import type { FromGraph, Graph, GraphNode } from './graph-data';
import { showWhy } from './memory-items';
import { debounced } from './rows';

export class GraphPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private nodes = new Map<string, GraphNode>();
  private readonly soon = debounced(() => void guarded(() => this.read()), 500);
  private readonly registration: vscode.Disposable;

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly run: RunCommand,
    private readonly results: Results,
  ) {
    this.registration = vscode.commands.registerCommand('chatls.ui.memory.graph', (quiet?: unknown) => this.show(quiet === true));
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

  private show(preserveFocus: boolean): void {
    if (this.panel) {
      this.panel.reveal(undefined, preserveFocus);
      return;
    }
    const dist = vscode.Uri.joinPath(this.extensionUri, 'dist');
    const panel = vscode.window.createWebviewPanel('chatls.graph', vscode.l10n.t('Memory Graph'), { viewColumn: vscode.ViewColumn.Active, preserveFocus }, {
      enableScripts: true,
      localResourceRoots: [dist],
      retainContextWhenHidden: true,
    });
    panel.webview.onDidReceiveMessage((message: FromGraph) => void guarded(() => this.handle(message)));
    panel.onDidDispose(() => (this.panel = undefined));
    panel.webview.html = page(panel.webview, dist, 'graph');
    this.panel = panel;
  }

  private async handle(message: FromGraph): Promise<void> {
    if (message.type === 'ready') return this.read();
    const node = this.nodes.get(message.id);
    if (!node) return;
    // The graph prefixes an id with its kind; the commands want it as the store has it.
    const id = node.kind === 'fact' ? node.id.slice('fact:'.length) : node.id;
    await showWhy(this.run, this.results, { kind: node.kind, id, text: node.title });
  }

  private async read(): Promise<void> {
    const { data } = await this.run<Graph | undefined>('chatls.memory.graph');
    const graph = { nodes: data?.nodes ?? [], edges: data?.edges ?? [], totalNodes: data?.totalNodes ?? 0 };
    this.nodes = new Map(graph.nodes.map((node) => [node.id, node]));
    await this.panel?.webview.postMessage({ type: 'graph', graph });
  }
}
