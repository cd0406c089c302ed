/** The little of VS Code's API that is needed where a module is tested outside the editor: words, unchanged, and trees. */

export const l10n = {
  t: (text: string, ...values: unknown[]) => text.replace(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)])),
};

export enum StatusBarAlignment {
  Left = 1,
  Right = 2,
}

export enum TreeItemCollapsibleState {
  None,
  Collapsed,
  Expanded,
}

export const env = { language: 'en' };

export class EventEmitter<T> {
  private readonly listeners = new Set<(value: T) => void>();
  readonly event = (listener: (value: T) => void) => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };

  fire(value: T): void {
    for (const listener of this.listeners) listener(value);
  }

  dispose(): void {
    this.listeners.clear();
  }
}

export const Disposable = {
  from: (...parts: { dispose(): void }[]) => ({ dispose: () => parts.forEach((part) => part.dispose()) }),
};

export const Uri = {
  joinPath: (base: { path: string }, ...names: string[]) => ({ path: [base.path, ...names].join('/') }),
  parse: (text: string) => ({ path: text }),
};

export class TreeItem {
  constructor(
    readonly label: string,
    readonly collapsibleState: TreeItemCollapsibleState,
  ) {}
}

export class ThemeIcon {
  constructor(readonly id: string) {}
}

interface Provider {
  getParent?(row: unknown): unknown;
  getChildren(row?: unknown): Promise<unknown[]>;
  getTreeItem(row: unknown): { accessibilityInformation?: { label: string } };
  onDidChangeTreeData(listener: () => void): unknown;
}

/** What was registered and set, for a test to look at. */
export const made = {
  commands: new Map<string, (...args: never[]) => unknown>(),
  context: {} as Record<string, unknown>,
  trees: [] as { view: Record<string, unknown>; provider: Provider }[],
  told: [] as string[],
  /** Answers the next input box. */
  answer: undefined as string | undefined,
  box: undefined as Box | undefined,
  /** Which entries of lists are picked, one list after the other. */
  picked: [] as string[],
  /** Which button of a notification is pressed. */
  pressed: undefined as string | undefined,
};

export const commands = {
  registerCommand: (name: string, body: (...args: never[]) => unknown) => {
    made.commands.set(name, body);
    return { dispose: () => made.commands.delete(name) };
  },
  executeCommand: async (name: string, ...args: unknown[]) => {
    if (name === 'setContext') made.context[String(args[0])] = args[1];
  },
};

async function tell(message: string, ...buttons: string[]): Promise<string | undefined> {
  made.told.push(message);
  return buttons.find((button) => button === made.pressed);
}

/** An input box that a test types into. */
export class Box {
  value = '';
  private readonly handlers: Record<string, (value: string) => void> = {};
  onDidChangeValue = (handler: (value: string) => void) => (this.handlers['change'] = handler);
  onDidAccept = (handler: () => void) => (this.handlers['accept'] = handler);
  onDidHide = (handler: () => void) => (this.handlers['hide'] = handler);
  show = () => undefined;
  dispose = () => undefined;
  hide = () => this.handlers['hide']?.('');

  type(text: string): void {
    this.value = text;
    this.handlers['change']?.(text);
  }
}

export const window = {
  createInputBox: () => (made.box = new Box()),
  createTreeView: (_: string, { treeDataProvider: provider }: { treeDataProvider: Provider }) => {
    const view: Record<string, unknown> = { dispose: () => undefined };
    made.trees.push({ view, provider });
    return view;
  },
  showInputBox: async () => made.answer,
  showQuickPick: async (items: { label: string }[]) => {
    const label = made.picked.shift();
    return items.find((item) => item.label === label);
  },
  showInformationMessage: tell,
  showErrorMessage: tell,
};
