/** The status bar item: who answers, how full the context is, and what is going on. */

import * as vscode from 'vscode';
import type { Engine } from './panel';
import type { Status } from './wire';

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('chatls.status', vscode.StatusBarAlignment.Right, 90);

  constructor() {
    this.item.name = 'ChatLS';
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
  }

  /** Draws the state; what the extension knows itself (no server, busy, waiting) goes before what the server said. */
  update(engine: Engine, status: Status | undefined): void {
    const { text, tooltip, command, error } = describe(engine, status);
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.command = command;
    this.item.backgroundColor = error ? new vscode.ThemeColor('statusBarItem.errorBackground') : undefined;
    this.item.accessibilityInformation = { label: `ChatLS: ${tooltip}` };
  }
}

interface Drawing {
  text: string;
  tooltip: string;
  command: string;
  error?: boolean;
}

/** The words of the item for a state. */
export function describe(engine: Engine, status: Status | undefined): Drawing {
  const { l10n } = vscode;
  const focus = 'chatls.ui.ask';
  if (engine.state === 'failed') {
    return { text: '$(error) ChatLS', tooltip: engine.message, command: 'chatls.ui.trouble', error: true };
  }
  if (engine.state === 'starting') {
    return { text: `$(loading~spin) ChatLS · ${l10n.t('starting')}`, tooltip: engine.detail ?? l10n.t('The server is starting'), command: focus };
  }
  const name = status?.model || 'ChatLS';
  const share = status?.window && status.used !== undefined ? ` · ${Math.round((100 * status.used) / status.window)} %` : '';
  const words = (icon: string, state: string) => `$(${icon}) ${name}${share} · ${state}`;
  const who = status?.provider ? `${status.provider} · ${status.model ?? ''}` : l10n.t('No provider');
  if (engine.state === 'waiting' || status?.state === 'waiting') {
    return { text: words('bell-dot', l10n.t('waiting for you')), tooltip: l10n.t('A question in the chat waits for your answer'), command: focus };
  }
  if (engine.state === 'answering' || status?.state === 'answering') {
    return { text: words('loading~spin', l10n.t('answering')), tooltip: who, command: focus };
  }
  if (status?.state === 'error') {
    return { text: words('error', l10n.t('error')), tooltip: status.message ?? who, command: 'chatls.ui.trouble', error: true };
  }
  if (status?.state === 'offline' || status?.provider === 'local') {
    return { text: words('vm', l10n.t('offline model')), tooltip: l10n.t('A small model on this machine answers. Click to choose a better one.'), command: 'chatls.ui.model.switch' };
  }
  return { text: words('sparkle', l10n.t('ready')), tooltip: who, command: focus };
}
