/** Signing in to a provider in the browser: shows the code, waits for the server to say that it worked. */

import * as vscode from 'vscode';
import type { RunCommand } from './palette';

interface Started {
  title: string;
  url: string;
  code: string;
}

/** Signs in; false when the user turned away. Where the key is kept the server settles with the editor. */
export async function signIn(run: RunCommand, provider: string): Promise<boolean> {
  const { l10n, window } = vscode;
  const { data } = await run<Started>('chatls.provider.signIn', { provider });
  const open = l10n.t('Copy Code and Open Browser');
  const words = l10n.t('Sign in to {0} with the code {1}.', data.title, data.code);
  const chosen = await window.showInformationMessage(words, { modal: true, detail: data.url }, open);
  if (chosen !== open) {
    await run('chatls.provider.signIn', { provider, cancel: true });
    return false;
  }
  await vscode.env.clipboard.writeText(data.code);
  await vscode.env.openExternal(vscode.Uri.parse(data.url));
  const location = vscode.ProgressLocation.Notification;
  const title = l10n.t('Waiting for {0}: enter the code {1} in the browser', data.title, data.code);
  return window.withProgress({ location, title, cancellable: true }, async (_, token) => {
    token.onCancellationRequested(() => void run('chatls.provider.signIn', { provider, cancel: true }));
    try {
      await run('chatls.provider.signIn', { provider, wait: true });
    } catch (error) {
      if (token.isCancellationRequested) return false;
      throw error;
    }
    void window.showInformationMessage(l10n.t('Signed in to {0}.', data.title));
    return true;
  });
}
