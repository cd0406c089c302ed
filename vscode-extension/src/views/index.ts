/** The views beside the chat: instructions, memory with its graph, and context. */

import * as vscode from 'vscode';
import type { RunCommand } from '../commands/palette';
import type { Results } from '../commands/results';
import { ContextView } from './context';
import { GraphPanel } from './graph';
import { InstructionsView } from './instructions';
import { MemoryView } from './memory';
import { registerMemoryItems, type OpenMessage } from './memory-items';
import type { Row } from './rows';

export interface ViewsInput {
  extensionUri: vscode.Uri;
  run: RunCommand;
  results: Results;
  /** The open conversation's id. */
  session(): string | undefined;
  mode(): string;
  asUri(uri: vscode.Uri): string;
  fromWire(uri: string): vscode.Uri;
  openMessage: OpenMessage;
  /** Tells the server of files that were made, renamed or deleted. */
  filesChanged(uris: string[]): void;
}

/** All of them, told what changed. */
export class Views implements vscode.Disposable {
  private readonly instructions: InstructionsView;
  private readonly memory: MemoryView;
  private readonly graph: GraphPanel;
  private readonly context: ContextView;
  private readonly items: vscode.Disposable;

  constructor(input: ViewsInput) {
    this.instructions = new InstructionsView(input);
    this.memory = new MemoryView(input.run, input.extensionUri);
    this.graph = new GraphPanel(input);
    this.context = new ContextView(input);
    const { run, results, openMessage } = input;
    const { memory } = this;
    const view = { selected: () => memory.selected, leave: (row: Row) => memory.leave(row), refresh: () => memory.refresh() };
    this.items = vscode.Disposable.from(...registerMemoryItems({ run, results, openMessage, ...view }));
  }

  dispose(): void {
    for (const part of [this.instructions, this.memory, this.graph, this.context, this.items]) part.dispose();
  }

  /** A server started: everything is read anew. */
  refresh(): void {
    this.instructionsChanged();
    this.memoryChanged();
  }

  instructionsChanged(): void {
    this.instructions.refresh();
    this.context.refresh();
  }

  memoryChanged(): void {
    this.memory.changed();
    this.graph.changed();
    this.context.refresh();
  }

  /** A turn began or ended, or another conversation was opened. */
  turnChanged(): void {
    this.context.refresh();
  }
}
