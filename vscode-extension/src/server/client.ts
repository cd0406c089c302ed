/** One language client: which documents it follows and what it tells the server about itself. */

import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  TransportKind,
  type ClientCapabilities,
  type FeatureState,
  type StaticFeature,
} from 'vscode-languageclient/node';
import type { ServerCommand } from './discovery';
import { withoutSecrets } from './output';

/** Declares the requests this extension answers beyond the protocol's standard ones. */
class ChatCapabilities implements StaticFeature {
  getState(): FeatureState {
    return { kind: 'static' };
  }
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const experimental = (capabilities.experimental ?? {}) as Record<string, unknown>;
    capabilities.experimental = { ...experimental, chatls: { approve: {}, ask: {}, save: {}, diagnostics: {} } };
  }
  initialize(): void {}
  clear(): void {}
}

export interface ClientInput {
  server: ServerCommand;
  output: vscode.LogOutputChannel;
  /** Commands the server offers in code actions that the panel runs itself; true when it did. */
  intercept(command: string, args: unknown[]): Promise<boolean>;
}

/** A client that is not started yet. It never restarts the server by itself and shows no toasts. */
export function makeClient({ server, output, intercept }: ClientInput): LanguageClient {
  const client = new LanguageClient(
    'chatls',
    'ChatLS',
    {
      command: server.command,
      args: server.args,
      transport: TransportKind.stdio,
      options: { env: { ...process.env, PYTHONUNBUFFERED: '1', PYTHONIOENCODING: 'utf-8' } },
    },
    {
      documentSelector: [
        { scheme: 'file' },
        { scheme: 'untitled' },
        { scheme: 'vscode-notebook-cell' },
        { scheme: 'vscode-vfs' },
      ],
      outputChannel: output,
      traceOutputChannel: withoutSecrets(output),
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: { trusted: vscode.workspace.isTrusted },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
      middleware: {
        executeCommand: async (command, args, next) => {
          if (await intercept(command, args)) return undefined;
          return next(command, args) as Promise<unknown>;
        },
      },
    },
  );
  client.registerFeature(new ChatCapabilities());
  return client;
}
