/** What the panel asks for, done. */

import * as vscode from 'vscode';
import { raiseBudget } from '../budget';
import { guarded, type RunCommand } from '../commands/palette';
import { openLink } from '../links';
import type { FromPanel, PanelAction, Surroundings } from '../panel';
import type { Reviews } from '../review/reviews';
import type { Completion, Mode } from '../wire';
import type { CompanionTracker } from './companions';
import type { ChatController } from './controller';
import type { ChatView } from './view';

export interface RouterInput {
  controller: ChatController;
  companions: CompanionTracker;
  reviews: Reviews;
  view: ChatView;
  run: RunCommand;
  asUri(uri: vscode.Uri): string;
  surroundings(): Surroundings;
  refresh(): void;
  setMode(mode: Mode): void;
  /** The user begins to write. */
  prepare(): void;
  /** Resolves when the server has taken new settings, or after a short while. */
  settingsTaken(): Promise<void>;
}

/** The commands behind the panel's buttons. */
const ACTIONS: Record<PanelAction, string> = {
  addKey: 'chatls.ui.key.add',
  useOllama: 'chatls.ui.ollama',
  switchModel: 'chatls.ui.model.switch',
  restart: 'chatls.ui.server.restart',
  showLog: 'chatls.ui.server.log',
  manageTrust: 'workbench.trust.manage',
  openSettings: 'chatls.ui.settings',
  compact: 'chatls.ui.session.compact',
  attach: 'chatls.ui.attach',
  showContext: 'chatls.context.focus',
};

export class PanelRouter {
  /** What is to be written into a panel that is not there yet. */
  private pendingCompose: { text: string; mode?: Mode } | undefined;

  constructor(private readonly input: RouterInput) {}

  /** Shows the panel and puts the cursor into its box, with a text when one is given. */
  async compose(text: string, mode?: Mode): Promise<void> {
    this.pendingCompose = { text, ...(mode ? { mode } : {}) };
    await this.input.view.reveal();
    this.input.view.post({ type: 'compose', ...this.pendingCompose });
  }

  handle(message: FromPanel): void {
    void guarded(() => this.dispatch(message));
  }

  private async dispatch(message: FromPanel): Promise<void> {
    const { controller, companions, reviews, view } = this.input;
    switch (message.type) {
      case 'ready':
        view.post(controller.snapshot());
        view.post({ type: 'surroundings', value: this.input.surroundings() });
        if (this.pendingCompose) view.post({ type: 'compose', ...this.pendingCompose });
        return;
      case 'send':
        this.pendingCompose = undefined;
        await controller.send(message.text, message.mode, companions.take(this.input.asUri), { steer: message.steer });
        return;
      case 'stop':
        controller.stop();
        return;
      case 'unqueue':
        controller.unqueue(message.key);
        return;
      case 'retry':
        await controller.retry(message.key);
        return;
      case 'mode':
        this.input.setMode(message.mode);
        this.input.refresh();
        return;
      case 'draft':
        if (message.text) this.input.prepare();
        controller.keepDraft(message.text);
        return;
      case 'complete':
        await this.complete(message.id, message.text, message.offset);
        return;
      case 'detach':
        companions.detach(message.id);
        return;
      case 'drop':
        for (const uri of message.uris) companions.attach(vscode.Uri.parse(uri, true));
        return;
      case 'link':
        await openLink(message.href, message.line);
        return;
      case 'copy':
        await vscode.env.clipboard.writeText(message.text);
        return;
      case 'insert':
        await insert(message.text);
        return;
      case 'approve':
        this.approve(message.callId, message.optionId);
        return;
      case 'answer':
        controller.settle(
          message.callId,
          message.answers && { answers: message.answers },
          message.answers ? vscode.l10n.t('Answered') : vscode.l10n.t('Skipped'),
        );
        return;
      case 'diff':
        if (!(await reviews.openDiff(message.callId, message.uri))) await openLink(message.uri, undefined);
        return;
      case 'undo':
        await vscode.commands.executeCommand('chatls.ui.edits.undo', message.turnId, message.callId);
        return;
      case 'memory':
        await vscode.commands.executeCommand('chatls.ui.view.memory.recent', message.ids);
        return;
      case 'undoMemory':
        await vscode.commands.executeCommand('chatls.ui.memory.undo', message.token);
        return;
      case 'raiseBudget':
        if (await raiseBudget(this.input.settingsTaken)) await controller.retry(message.key);
        return;
      case 'action':
        await vscode.commands.executeCommand(ACTIONS[message.action]);
    }
  }

  private approve(callId: string, optionId: string): void {
    const { controller } = this.input;
    const dialog = controller.approval(callId);
    if (!dialog) return;
    const isEdit = Boolean(dialog.params.edits?.length);
    // A hunk that was rejected on its own stays rejected: the card's buttons are about the others.
    if (isEdit && this.input.reviews.decideRest(callId, optionId !== 'deny')) return;
    const { l10n } = vscode;
    const words: Record<string, string> = {
      allow: isEdit ? l10n.t('Accepted') : l10n.t('Allowed once'),
      always: l10n.t('Always allowed'),
      deny: isEdit ? l10n.t('Rejected') : l10n.t('Denied'),
    };
    const title = dialog.params.options.find((option) => option.id === optionId)?.title;
    controller.settle(callId, { optionId }, words[optionId] ?? title ?? optionId);
  }

  private async complete(id: number, text: string, offset: number): Promise<void> {
    const { controller, run, view } = this.input;
    const sessionId = controller.session ? { sessionId: controller.session } : {};
    const { data } = await run<{ items?: Completion[] }>('chatls.chat.complete', { text, offset, ...sessionId });
    view.post({ type: 'completions', id, items: data?.items ?? [] });
  }
}

/** Puts code where the cursor is in the editor the user looked at last. */
async function insert(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (!editor) {
    void vscode.window.showInformationMessage(vscode.l10n.t('Open a file first: the code goes where its cursor is.'));
    return;
  }
  await editor.edit((edit) => {
    for (const selection of editor.selections) edit.replace(selection, text.replace(/\n$/, ''));
  });
  await vscode.window.showTextDocument(editor.document, editor.viewColumn);
}
