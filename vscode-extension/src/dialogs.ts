/** What the server may ask this editor: approvals, questions, saving, other servers' findings. */

import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { ChatController } from './chat/controller';
import type { Reviews } from './review/reviews';
import type { Keys } from './secrets';
import type { Answers, ApproveParams, ApproveResult, AskParams } from './wire';

export interface DialogInput {
  controller: ChatController;
  reviews: Reviews;
  keys: Keys;
  /** Brings the panel into view without taking the focus. */
  show(): void;
}

/** Registers the handlers on a client that is about to start. */
export function registerDialogs(client: LanguageClient, { controller, reviews, keys, show }: DialogInput): void {
  const settledElsewhere = () => vscode.l10n.t('Settled elsewhere.');

  client.onRequest('chatls/approve', async (params: ApproveParams, token: vscode.CancellationToken) => {
    show();
    reviews.open(params);
    try {
      const answer = await controller.ask<{ kind: 'approve'; key: string; params: ApproveParams }>('approve', params, (cancelled) =>
        token.onCancellationRequested(cancelled),
      );
      return answer as ApproveResult | null;
    } finally {
      await reviews.close(params.callId);
    }
  });

  client.onRequest('chatls/ask', async (params: AskParams, token: vscode.CancellationToken) => {
    show();
    const answer = await controller.ask<{ kind: 'ask'; key: string; params: AskParams }>('ask', params, (cancelled) =>
      token.onCancellationRequested(cancelled),
    );
    return answer as { answers: Answers } | null;
  });

  client.onNotification('chatls/resolved', ({ callId }: { callId: string }) => {
    controller.settle(callId, null, settledElsewhere());
  });

  client.onRequest('chatls/secrets/keep', async ({ provider, key }: { provider: string; key: string }) => {
    await keys.keep(provider, key);
    return { kept: true };
  });

  client.onRequest('chatls/save', ({ uris }: { uris: string[] }) => Promise.all(uris.map((uri) => save(client, uri))));

  client.onRequest('chatls/diagnostics', async ({ uris, settleMs }: { uris: string[]; settleMs: number }, token: vscode.CancellationToken) => {
    const wanted = uris.map((uri) => client.protocol2CodeConverter.asUri(uri));
    const quiet = await settled(wanted, settleMs, token);
    const items = wanted.map(async (uri, index) => ({
      uri: uris[index],
      version: openDocument(uri)?.version,
      diagnostics: await client.code2ProtocolConverter.asDiagnostics([...vscode.languages.getDiagnostics(uri)]),
      complete: quiet && isShown(uri),
    }));
    return { items: await Promise.all(items) };
  });
}

async function save(client: LanguageClient, wire: string): Promise<{ uri: string; saved: boolean; version?: number }> {
  const document = openDocument(client.protocol2CodeConverter.asUri(wire));
  // A file no editor holds is on disk as it is.
  if (!document) return { uri: wire, saved: true };
  const saved = !document.isDirty || (await document.save());
  return { uri: wire, saved, version: document.version };
}

function openDocument(uri: vscode.Uri): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
}

/** Whether a tab shows the file: other servers look at no other files. */
function isShown(uri: vscode.Uri): boolean {
  return vscode.window.tabGroups.all.some((group) =>
    group.tabs.some((tab) => {
      const input = tab.input;
      if (input instanceof vscode.TabInputText) return input.uri.toString() === uri.toString();
      return input instanceof vscode.TabInputTextDiff && input.modified.toString() === uri.toString();
    }),
  );
}

/** The longest wait for findings, as a multiple of the quiet time asked for. */
const PATIENCE = 5;

/** Waits until nothing was found about `uris` for `settleMs`; false when that did not happen in time. */
function settled(uris: vscode.Uri[], settleMs: number, token: vscode.CancellationToken): Promise<boolean> {
  const names = new Set(uris.map(String));
  return new Promise((resolve) => {
    const finish = (quiet: boolean) => {
      clearTimeout(pause);
      clearTimeout(limit);
      watcher.dispose();
      cancel.dispose();
      resolve(quiet);
    };
    let pause = setTimeout(() => finish(true), settleMs);
    const limit = setTimeout(() => finish(false), settleMs * PATIENCE);
    const watcher = vscode.languages.onDidChangeDiagnostics((event) => {
      if (!event.uris.some((uri) => names.has(uri.toString()))) return;
      clearTimeout(pause);
      pause = setTimeout(() => finish(true), settleMs);
    });
    const cancel = token.onCancellationRequested(() => finish(false));
  });
}
