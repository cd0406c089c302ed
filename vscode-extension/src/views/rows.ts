/** Trees made of plain rows: what a view shows is data, drawn in one place. */

import * as vscode from 'vscode';
import { failureOf } from '../chat/failure';

/** What a row stands for in memory; the inline actions work on it. */
export interface MemoryTarget {
  /** `fact`, `profile`, `project`, `topic`, `episode`, or one a newer server knows. */
  kind: string;
  id: string;
  text: string;
  category?: string;
  /** The field of the profile it belongs to. */
  key?: string;
  pinned?: boolean;
  sensitive?: boolean;
  /** The conversation and message it was said in. */
  origin?: { session?: string; message?: string };
  /** What a row for several things stands for. */
  ids?: string[];
}

/** Where a click leads. */
export interface Opening {
  uri: string;
  /** One-based. */
  line?: number;
}

export interface Row {
  /** Stable from one reading to the next, so that what is open stays open. */
  id: string;
  label: string;
  description?: string;
  tooltip?: string;
  /** A codicon's name. */
  icon?: string;
  /** What a screen reader says, where that is not the label and the description. */
  speech?: string;
  /** `contextValue`: which inline actions there are. */
  actions?: string;
  children?: Row[];
  /** Reads the children when they are first looked at, instead of `children`. */
  load?: () => Promise<Row[]>;
  expanded?: boolean;
  open?: Opening;
  command?: { command: string; title: string; arguments?: unknown[] };
  target?: MemoryTarget;
}

/** A tree view over rows that are read all at once. */
export class RowTree implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  readonly view: vscode.TreeView<Row>;
  /** What is drawn, and what was read but is not drawn yet. */
  private drawn = '';
  private ready: Row[] | undefined;
  /** Where the rows stand. */
  private readonly places = new WeakMap<Row, { parent: Row | undefined; siblings: Row[] }>();

  constructor(
    id: string,
    private readonly read: () => Promise<Row[]>,
    private readonly asUri: (wire: string) => vscode.Uri,
  ) {
    this.view = vscode.window.createTreeView(id, { treeDataProvider: this, showCollapseAll: true });
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }

  /** Reads again; a view that is not visible does so when it is shown. */
  refresh(): void {
    this.ready = undefined;
    this.changed.fire();
  }

  /** Reads again, and draws only where something changed: a row that is drawn anew swallows a click on its way. */
  async update(): Promise<void> {
    if (!this.view.visible) return this.refresh();
    const drawn = this.drawn;
    const rows = await this.getChildren();
    if (this.drawn === drawn && !rows.some(isLoaded)) return;
    this.ready = rows;
    this.changed.fire();
  }

  async getChildren(row?: Row): Promise<Row[]> {
    if (!row && this.ready) {
      const rows = this.ready;
      this.ready = undefined;
      return rows;
    }
    const rows = await this.children(row);
    if (!row) this.drawn = JSON.stringify(rows);
    for (const child of rows) this.places.set(child, { parent: row, siblings: rows });
    return rows;
  }

  getParent(row: Row): Row | undefined {
    return this.places.get(row)?.parent;
  }

  /** Gives the focus of a row that goes to the one below it, else above it: who removes several is not to start from the top. */
  async focusBeside(row: Row): Promise<void> {
    const { parent, siblings } = this.places.get(row) ?? { parent: undefined, siblings: [] };
    const at = siblings.indexOf(row);
    const next = siblings[at + 1] ?? siblings[at - 1] ?? parent;
    if (!next || !this.view.visible) return;
    try {
      await this.view.reveal(next, { focus: true, select: false });
    } catch {
      // It went meanwhile.
    }
  }

  private async children(row?: Row): Promise<Row[]> {
    try {
      return await (row ? (row.load?.() ?? row.children ?? []) : this.read());
    } catch (error) {
      const { message, hint } = failureOf(error);
      const tooltip = [message, hint].filter(Boolean).join('\n');
      return [{ id: `failure:${row?.id ?? ''}`, label: message, icon: 'warning', tooltip, ...(hint ? { description: hint } : {}) }];
    }
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(row.label, row.children || row.load ? (row.expanded ? Expanded : Collapsed) : None);
    item.id = row.id;
    item.tooltip = row.tooltip ?? row.label;
    if (row.description) item.description = row.description;
    if (row.icon) item.iconPath = new vscode.ThemeIcon(row.icon);
    if (row.actions) item.contextValue = row.actions;
    // Without it the tooltip would be read out, which leaves out what the row says.
    item.accessibilityInformation = { label: row.speech ?? [row.label, row.description].filter(Boolean).join(', ') };
    const command = this.commandOf(row);
    if (command) item.command = command;
    return item;
  }

  private commandOf({ open, command, label, target }: Row): vscode.Command | undefined {
    if (command) return { arguments: [{ target }], ...command };
    if (!open) return undefined;
    const line = open.line === undefined ? undefined : Math.max(0, open.line - 1);
    const selection = line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
    return { command: 'vscode.open', title: label, arguments: [this.asUri(open.uri), { preview: true, ...selection }] };
  }
}

/** Whether something of a row is read only when it is opened: what changed there is not known. */
function isLoaded({ load, children }: Row): boolean {
  return load !== undefined || (children?.some(isLoaded) ?? false);
}

/** Runs `work` once things have been quiet for `delay` milliseconds. */
export function debounced(work: () => void, delay: number): vscode.Disposable & { (): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = () => clearTimeout(timer);
  return Object.assign(
    () => {
      cancel();
      timer = setTimeout(work, delay);
    },
    { dispose: cancel },
  );
}
